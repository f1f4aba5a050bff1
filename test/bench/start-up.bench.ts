import { execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Started } from './service-process.ts';

const ROUNDS = 21;
const COMMAND = path.resolve('bin/promptrun.js');

type Environment = Record<string, string>;

interface Subject {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** What a command costs from start to end, as multiples of a bare `node -e 0` in the same run. */
export default async function benchStartUp(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-bench-'));
  const server = fork(path.join(import.meta.dirname, 'service-process.mjs'), [
    'measured',
    path.join(home, 'data'),
  ]);
  try {
    const [{ url, key }] = (await once(server, 'message')) as [Started];
    const env = environment(home, url, key);
    report(measure(subjects(url, key), env));
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
}

function environment(home: string, url: string, key: string): Environment {
  const { PATH = '', NODE_EXTRA_CA_CERTS } = process.env;
  return {
    PATH,
    HOME: home,
    PROMPTRUN_BASE_URL: url,
    PROMPTRUN_API_KEY: key,
    ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
  };
}

function subjects(url: string, key: string): Subject[] {
  const promptrun = (name: string, ...args: string[]): Subject => ({
    name,
    program: process.execPath,
    args: [COMMAND, ...args],
  });
  return [
    { name: 'node -e 0', program: process.execPath, args: ['-e', '0'] },
    {
      name: 'curl, one GET',
      program: 'curl',
      args: ['-sS', '-H', `Authorization: Bearer ${key}`, `${url}/runs`],
    },
    promptrun('version', '--version'),
    promptrun('help', '--help'),
    promptrun('settings read', 'config', 'list'),
    promptrun('one GET', 'runs', 'list'),
    promptrun('one POST', 'run', 'hello', '-i', 'name=Ada'),
  ];
}

/** Medians in milliseconds; the subjects take turns, so that a slow moment hits them all. */
function measure(all: readonly Subject[], env: Environment): Map<string, number> {
  const times = new Map(all.map(({ name }): [string, number[]] => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, program, args } of all) times.get(name)?.push(timeOf(program, args, env));
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]));
}

function timeOf(program: string, args: readonly string[], env: Environment): number {
  const start = process.hrtime.bigint();
  const { status, stderr, error } = spawnSync(program, args, { env });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? String(stderr)}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function report(medians: ReadonlyMap<string, number>): void {
  const bare = medians.get('node -e 0') ?? Number.NaN;
  process.stdout.write('\nstart to end, beside a bare node -e 0 in the same run\n');
  for (const [name, time] of medians) {
    process.stdout.write(
      `  ${name.padEnd(16)} ${time.toFixed(0).padStart(5)} ms  ${(time / bare).toFixed(2)} ×\n`,
    );
  }
}
