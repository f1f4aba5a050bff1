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
import { findFreePort } from '../free-port.ts';
import { TEMPORARY_VARIABLE } from '../temporary.ts';

/** The directory of the server's programs in Debian's packages, which is not on the path. */
const DEBIAN = '/usr/lib/postgresql';

/** Returns the directory of PostgreSQL's own programs; undefined if it is not installed. */
export function findPostgresPrograms(): string | undefined {
  const installed = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map(version => path.join(DEBIAN, version, 'bin'))
    : [];
  const places = [
    ...installed.sort().reverse(),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
  ];
  return places.find(
    place => existsSync(path.join(place, 'initdb')) && existsSync(path.join(place, 'pg_ctl')),
  );
}

export interface PostgresOptions {
  /** True if what it says to have written is on disk, as it is where it matters; default false. */
  readonly durable?: boolean;
  /** True to speak TLS too, with the certificate of the tests; default false. */
  readonly tls?: boolean;
  /** False to save the time of visiting many small databases again and again; default true. */
  readonly vacuums?: boolean;
}

export interface PostgresStandby {
  readonly url: string;
  /** Makes it take writes from now on. */
  promote(): void;
  remove(): void;
}

/** Makes and starts a server; it does not run as root, whoever runs the tests. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresCluster> {
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');

  const directory = mkdtempSync(path.join(tmpdir(), 'postgres-'));
  const flags = prepareServerFlags(directory, options);
  const cluster = new PostgresCluster(programs, directory, await findFreePort(), flags);
  cluster.initialise();
  cluster.start();

  return cluster;
}

/** Returns the flags of the server, and writes its certificate if it speaks TLS. */
function prepareServerFlags(
  directory: string,
  { durable = false, tls = false, vacuums = true }: PostgresOptions,
): string {
  const settings = [
    'listen_addresses=127.0.0.1,127.0.0.2',
    `fsync=${durable ? 'on' : 'off'}`,
    'max_connections=300',
    `autovacuum=${vacuums ? 'on' : 'off'}`,
  ];
  if (tls) {
    const [certificate, key] = [
      path.join(directory, 'server.crt'),
      path.join(directory, 'server.key'),
    ];
    writeFileSync(certificate, CERTIFICATE);
    writeFileSync(key, CERTIFICATE_KEY, { mode: 0o600 });
    settings.push('ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`);
  }
  return [`-k ${directory}`, ...settings.map(setting => `-c ${setting}`)].join(' ');
}

/** A database server of the tests' own. */
export class PostgresCluster {
  /** The URL of the database that always exists. */
  readonly url: string;
  readonly #programs: string;
  readonly #directory: string;
  readonly #data: string;
  readonly #port: number;
  readonly #flags: string;
  readonly #asUser: readonly string[];

  constructor(programs: string, directory: string, port: number, flags: string) {
    this.url = buildDatabaseUrl(port);
    this.#programs = programs;
    this.#directory = directory;
    this.#data = path.join(directory, 'data');
    this.#port = port;
    this.#flags = flags;
    this.#asUser = asServerUser(directory);
  }

  /** Makes its files. */
  initialise(): void {
    const ofTests = process.env[TEMPORARY_VARIABLE];
    if (ofTests === undefined) {
      this.#initdb(this.#data);
    } else {
      copyInitial(ofTests, this.#data, directory => this.#initdb(directory));
    }
  }

  start(): void {
    this.#startServer(this.#data, this.#port, path.join(this.#directory, 'log'));
  }

  /** Stops it like a crash; returns once it is gone. */
  stop(): void {
    this.#stopServer(this.#data);
  }

  /** Ends all its processes, as a machine that goes down does. */
  kill(): void {
    this.#signal('SIGKILL');
  }

  /** Stops its processes where they are, with their connections open; `remove` ends them anyway. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  /** Starts a copy that follows it; later commits are on both. */
  async standby(): Promise<PostgresStandby> {
    const data = path.join(this.#directory, 'standby');
    const port = await findFreePort();
    const source = ['-h', '127.0.0.1', '-p', String(this.#port), '-U', 'postgres'];
    this.#run('pg_basebackup', '-D', data, '-R', '-X', 'stream', '-c', 'fast', ...source);
    this.#startServer(data, port, `${data}.log`);
    this.#run('psql', ...source, '-c', "alter system set synchronous_standby_names = '*'");
    this.#run('psql', ...source, '-c', 'select pg_reload_conf()');

    return {
      url: buildDatabaseUrl(port),
      promote: () => this.#run('pg_ctl', '-D', data, '-w', 'promote'),
      remove: () => this.#stopServer(data),
    };
  }

  /** Stops it and removes all that it kept. */
  remove(): void {
    if (existsSync(path.join(this.#data, 'postmaster.pid'))) {
      this.#signal('SIGCONT');
      try {
        this.stop();
      } catch {
        // It was killed.
      }
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #initdb(data: string): void {
    const flags = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
    this.#run('initdb', '-D', data, ...flags);
  }

  #startServer(data: string, port: number, log: string): void {
    this.#run('pg_ctl', '-D', data, '-l', log, '-o', `-p ${port} ${this.#flags}`, '-w', 'start');
  }

  #stopServer(data: string): void {
    this.#run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  }

  #run(program: string, ...args: string[]): void {
    const [command = '', ...rest] = [...this.#asUser, path.join(this.#programs, program), ...args];
    // Not through pipes: the server would keep them open.
    const { status } = spawnSync(command, rest, { stdio: 'ignore', cwd: this.#directory });
    if (status !== 0) throw new Error(`${program} failed; see ${this.#directory}/log`);
  }

  #signal(name: NodeJS.Signals): void {
    const [postmaster = ''] = readFileSync(path.join(this.#data, 'postmaster.pid'), 'utf8').split(
      '\n',
    );
    const { stdout } = spawnSync('pgrep', ['-P', postmaster], { encoding: 'utf8' });
    for (const pid of [postmaster, ...stdout.split('\n')]) {
      if (pid.trim() !== '') kill(Number(pid), name);
    }
  }
}

function buildDatabaseUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
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
    const newDirectory = `${data}-made`;
    initdb(newDirectory);
    try {
      renameSync(newDirectory, initial);
    } catch {
      // Another file of tests was faster.
    }
  }
  execFileSync('cp', ['-a', initial, data]);
}

/**
 * Returns the command line that runs a command as somebody who may run the server, and gives them
 * the directory.
 */
export function asServerUser(directory: string): string[] {
  if (process.getuid?.() !== 0) return [];
  execFileSync('chown', ['-R', 'nobody', directory]);
  chmodSync(directory, 0o755);
  return ['setpriv', '--reuid=nobody', '--clear-groups', '--'];
}
