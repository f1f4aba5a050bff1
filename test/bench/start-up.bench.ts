import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Environment, findCost, measureInTurns } from './command-cost.ts';
import { startServer } from './service-server.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 31);
const COMMAND = path.resolve('bin/promptrun.js');
const VERSION = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';

interface Subject {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Environment;
  /** The multiple of a bare Node, in CPU time, that it may cost on Node 20. */
  readonly target?: number;
}

/**
 * Measures a command from start to end, as multiples of a bare `node -e 0`, in an environment that
 * has nothing in it: `NODE_EXTRA_CA_CERTS`, for one, makes the bare Node slower and so flatters the
 * rest. Each command takes turns with the bare Node, and the least of all rounds counts, of CPU
 * time and of time on the clock. `BENCH_NODES` names other Node binaries to measure too, separated
 * by colons.
 */
export default async function benchStartUp(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-bench-'));

  const service = await startServer('instant', home);
  try {
    const nodes = [process.execPath, ...(process.env['BENCH_NODES']?.split(':') ?? [])];
    for (const node of nodes) measureNode(node, home, service.url);
  } finally {
    service.process.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

function measureNode(node: string, home: string, baseUrl: string): void {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const plain: Environment = { PATH: process.env['PATH'] ?? '', HOME: home };
  report(`Node ${version}`, node, plain, listSubjects(node, plain, baseUrl));

  // Targets are for what is installed; the first call after that, which compiles, is only shown.
  const compiling = { ...plain, NODE_DISABLE_COMPILE_CACHE: '1' };
  const first = listSubjects(node, compiling, baseUrl).map(({ name, argv, env }) => ({
    name,
    argv,
    env,
  }));
  report(`Node ${version}, nothing kept of what was compiled`, node, plain, first);
}

function listSubjects(node: string, plain: Environment, baseUrl: string): Subject[] {
  const hosted = { ...plain, PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: 'a-key' };

  const promptrun = (
    name: string,
    target: number,
    env: Environment,
    ...args: string[]
  ): Subject => ({
    name,
    target,
    env,
    argv: [node, COMMAND, ...args],
  });

  findCost({ argv: [node, COMMAND, 'resources', 'refresh'], env: hosted });
  return [
    { name: 'curl, one POST', argv: ['curl', '-sS', '-d', '{}', `${baseUrl}/runs`], env: plain },
    promptrun('version', 1.6, plain, '--version'),
    promptrun('help', 2.1, plain, '--help'),
    promptrun('a completion', 2.1, hosted, '__complete', 'bash', '--', 'promptrun run hel'),
    promptrun('cached resources', 2.1, hosted, 'resources', 'list', '--cached'),
    promptrun('one call', 3.6, hosted, 'run', VERSION, '-i', 'name=Ada'),
    promptrun('run hello, embedded', 5, plain, 'run', 'hello', '-i', 'name=Ada'),
  ];
}

function report(title: string, node: string, plain: Environment, all: readonly Subject[]): void {
  process.stdout.write(`\n${title}: over a bare node -e 0, least of ${ROUNDS}\n`);
  for (const subject of all) {
    const { bare, own } = measureInTurns({ argv: [node, '-e', '0'], env: plain }, subject, ROUNDS);
    const ratio = own.cpu / bare.cpu;
    const over =
      subject.target !== undefined && ratio > subject.target ? `  over ${subject.target}` : '';
    process.stdout.write(
      `  ${subject.name.padEnd(20)} CPU ${own.cpu.toFixed(0).padStart(4)} ms ${ratio.toFixed(2).padStart(5)} ×` +
        `   clock ${own.wall.toFixed(0).padStart(4)} ms ${(own.wall / bare.wall).toFixed(2).padStart(5)} ×${over}\n`,
    );
  }
}
