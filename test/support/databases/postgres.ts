import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CERTIFICATE, CERTIFICATE_KEY } from '../certificates/loopback-certificate.ts';
import { freePort } from '../free-port.ts';
import { TEMPORARY_VARIABLE } from '../temporary.ts';

/** The directory of the server's programs in Debian's packages, which is not on the path. */
const DEBIAN = '/usr/lib/postgresql';

/** Returns the directory of PostgreSQL's own programs; undefined if it is not installed. */
export function postgresPrograms(): string | undefined {
  const installed = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map(version => path.join(DEBIAN, version, 'bin'))
    : [];
  const places = [...installed.sort().reverse(), ...(process.env['PATH'] ?? '').split(path.delimiter)];
  return places.find(
    place => existsSync(path.join(place, 'initdb')) && existsSync(path.join(place, 'pg_ctl')),
  );
}

/** A database server of the tests' own, on a free port. */
export interface PostgresCluster {
  /** The URL of the database that always exists. */
  readonly url: string;
  /** Stops it like a crash; resolves once it is gone. */
  stop(): void;
  start(): void;
  /** Ends all its processes, as a machine that goes down does. */
  kill(): void;
  /** Its processes stop where they are, with their connections open; `remove` ends them anyway. */
  freeze(): void;
  /** Starts a copy that follows it; later commits are on both. */
  standby(): Promise<PostgresStandby>;
  /** Stops it and removes all that it kept. */
  remove(): void;
}

export interface PostgresStandby {
  readonly url: string;
  /** Makes it take writes from now on. */
  promote(): void;
  remove(): void;
}

/**
 * Makes and starts a server; it does not run as root, whoever runs the tests.
 *
 * @param durable whether what it says to have written is on disk, as it is where it matters; default false
 * @param tls true to speak TLS too, with the certificate of the tests
 * @param vacuums false to save the time of visiting many small databases again and again; default true
 */
export async function startPostgres({
  durable = false,
  tls = false,
  vacuums = true,
}: {
  durable?: boolean;
  tls?: boolean;
  vacuums?: boolean;
} = {}): Promise<PostgresCluster> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  const directory = mkdtempSync(path.join(tmpdir(), 'postgres-'));
  const data = path.join(directory, 'data');
  const [cert, key] = [path.join(directory, 'server.crt'), path.join(directory, 'server.key')];
  if (tls) {
    writeFileSync(cert, CERTIFICATE);
    writeFileSync(key, CERTIFICATE_KEY, { mode: 0o600 });
  }
  const asUser = asServerUser(directory);
  const port = await freePort();
  const run = (program: string, ...args: string[]): void => {
    const [command = '', ...rest] = [...asUser, path.join(programs, program), ...args];
    // Not through pipes: the server would keep them open.
    const { status } = spawnSync(command, rest, { stdio: 'ignore', cwd: directory });
    if (status !== 0) throw new Error(`${program} failed; see ${directory}/log`);
  };
  const initdb = (at: string): void =>
    run('initdb', '-D', at, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C');
  const ofTests = process.env[TEMPORARY_VARIABLE];
  if (ofTests === undefined) initdb(data);
  else copyInitial(ofTests, data, initdb);
  const speaksTls = tls ? ` -c ssl=on -c ssl_cert_file=${cert} -c ssl_key_file=${key}` : '';
  const options = `-p ${port} -c listen_addresses=127.0.0.1,127.0.0.2 -k ${directory} -c fsync=${durable ? 'on' : 'off'} -c max_connections=300 -c autovacuum=${vacuums ? 'on' : 'off'}${speaksTls}`;
  const start = (): void =>
    run('pg_ctl', '-D', data, '-l', path.join(directory, 'log'), '-o', options, '-w', 'start');
  const stop = (): void => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  const signal = (name: NodeJS.Signals): void => {
    const [postmaster = ''] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    const { stdout } = spawnSync('pgrep', ['-P', postmaster], { encoding: 'utf8' });
    for (const pid of [postmaster, ...stdout.split('\n')]) if (pid.trim() !== '') kill(Number(pid), name);
  };
  start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    kill: () => signal('SIGKILL'),
    freeze: () => signal('SIGSTOP'),
    async standby() {
      const copy = path.join(directory, 'standby');
      const copyPort = await freePort();
      const source = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
      run('pg_basebackup', '-D', copy, '-R', '-X', 'stream', '-c', 'fast', ...source);
      run('pg_ctl', '-D', copy, '-l', `${copy}.log`, '-o', `${options} -p ${copyPort}`, '-w', 'start');
      run('psql', ...source, '-c', "alter system set synchronous_standby_names = '*'");
      run('psql', ...source, '-c', 'select pg_reload_conf()');
      return {
        url: `postgres://postgres@127.0.0.1:${copyPort}/postgres`,
        promote: () => run('pg_ctl', '-D', copy, '-w', 'promote'),
        remove: () => run('pg_ctl', '-D', copy, '-m', 'immediate', '-w', 'stop'),
      };
    },
    remove() {
      if (existsSync(path.join(data, 'postmaster.pid'))) {
        signal('SIGCONT');
        try {
          stop();
        } catch {
          // It was killed.
        }
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** Copies what `initdb` makes, which takes a hundredth of its time; made once for all the tests. */
function copyInitial(ofTests: string, data: string, initdb: (at: string) => void): void {
  const initial = path.join(ofTests, 'postgres');
  if (!existsSync(initial)) {
    const made = `${data}-made`;
    initdb(made);
    try {
      renameSync(made, initial);
    } catch {
      // Another file of tests was faster.
    }
  }
  execFileSync('cp', ['-a', initial, data]);
}

/** Returns the command line that runs a command as somebody who may run the server, and gives them the directory. */
export function asServerUser(directory: string): string[] {
  if (process.getuid?.() !== 0) return [];
  execFileSync('chown', ['-R', 'nobody', directory]);
  chmodSync(directory, 0o755);
  return ['setpriv', '--reuid=nobody', '--clear-groups', '--'];
}
