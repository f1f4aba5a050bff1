import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../free-port.ts';
import { asServerUser } from './postgres.ts';

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(file => existsSync(file));

export const hasPgBouncer = PROGRAM !== undefined;

export interface PgBouncer {
  /** The database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a pooler in front of a database, with few connections to it. */
export async function startPgBouncer(
  database: string,
  mode: 'session' | 'transaction',
): Promise<PgBouncer> {
  if (PROGRAM === undefined) throw new Error('PgBouncer is not installed');

  const { hostname, port: serverPort, pathname } = new URL(database);
  const name = pathname.slice(1);
  const port = await findFreePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'pgbouncer-'));
  const users = path.join(directory, 'users');
  const settings = path.join(directory, 'settings.ini');
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    settings,
    `[databases]
${name} = host=${hostname} port=${serverPort} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${mode === 'session' ? 40 : 3}
`,
  );

  const [program, ...args] = [...asServerUser(directory), PROGRAM, settings];
  const child = spawn(program, args, { stdio: 'ignore' });
  await waitUntilListening(port, child);

  return {
    url: `postgres://postgres@127.0.0.1:${port}/${name}`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function waitUntilListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
  }
  throw new Error('PgBouncer ended');
}
