import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Cost,
  type Environment,
  findCost,
  measureInTurns,
  pickLowerCost,
  type Run,
} from './command-cost.ts';
import { startServer } from './service-server.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 21);
const COMMAND = path.resolve('bin/promptrun.js');
const VERSION = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';
const PICTURE_BYTES = 20 * 1024 * 1024;
const SIGNATURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

/**
 * Measures two pictures of 20 MiB against curl with an encoded body, and against a call without
 * pictures.
 */
export default async function benchUploads(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const directory = mkdtempSync(path.join(tmpdir(), 'promptrun-bench-'));

  const service = await startServer('instant', directory);
  try {
    measure(directory, service.url);
  } finally {
    service.process.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

function measure(directory: string, baseUrl: string): void {
  const body = path.join(directory, 'body.json');
  const pictures = ['a.png', 'b.png'].map(name => path.join(directory, name));
  writeImages(pictures, body);
  const plain: Environment = { PATH: process.env['PATH'] ?? '', HOME: directory };

  const hosted = { ...plain, PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: 'a-key' };
  const promptrun = (...args: string[]) => ({
    argv: [process.execPath, COMMAND, ...args],
    env: hosted,
  });

  findCost(promptrun('resources', 'refresh'));
  const curl = {
    argv: ['curl', '-sS', '--data-binary', `@${body}`, `${baseUrl}/runs`],
    env: plain,
  };
  const upload = promptrun('run', VERSION, ...pictures.flatMap(picture => ['--image', picture]));
  const call = promptrun('run', VERSION);
  const sent = measureInTurns(curl, upload, ROUNDS);
  const { own: without } = measureInTurns(curl, call, ROUNDS);
  process.stdout.write(`\ntwo pictures of 20 MiB, least of ${ROUNDS}\n`);
  printFigures('curl, encoded before', sent.bare);
  printFigures('one call, no pictures', without);
  printFigures('SHA-256 of both, bare', measureDigestCost());
  printFigures('run with both', sent.own, `${(sent.own.cpu / sent.bare.cpu).toFixed(2)} × curl`);
  const [withMiB, withoutMiB] = [
    measurePeakMiB(upload, directory),
    measurePeakMiB(call, directory),
  ];
  process.stdout.write(
    `  memory: ${withMiB} MiB at most, ${withMiB - withoutMiB} more than without pictures\n`,
  );
}

/**
 * Digests as many bytes as both pictures have: a processor without instructions for it takes three
 * times as long.
 */
function measureDigestCost(): Cost {
  const bytes = Buffer.alloc(PICTURE_BYTES, 'picture');
  const costs = Array.from({ length: ROUNDS }, (): Cost => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    createHash('sha256').update(bytes).update(bytes).digest();
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / 1000, wall: performance.now() - startedAt };
  });
  return costs.reduce(pickLowerCost);
}

function writeImages(pictures: readonly string[], body: string): void {
  const bytes = Buffer.concat([
    SIGNATURE,
    Buffer.alloc(PICTURE_BYTES - SIGNATURE.length, 'picture'),
  ]);
  for (const picture of pictures) writeFileSync(picture, bytes);
  const imageInputs = pictures.map(() => ({ type: 'base64', base64: bytes.toString('base64') }));
  writeFileSync(body, JSON.stringify({ promptVersionId: VERSION, inputs: { imageInputs } }));
}

function printFigures(name: string, { cpu, wall }: Cost, ratio = ''): void {
  const times = `CPU ${cpu.toFixed(0).padStart(4)} ms   clock ${wall.toFixed(0).padStart(4)} ms`;
  process.stdout.write(`  ${name.padEnd(22)} ${times}   ${ratio}\n`);
}

/** Returns the peak memory of a command, as Node reports it at the end. */
function measurePeakMiB({ argv: [node = '', ...args], env }: Run, directory: string): number {
  const told = path.join(directory, 'memory');
  const teller = `import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync(process.env.TOLD, String(process.resourceUsage().maxRSS)))`;
  findCost({
    argv: [node, '--import', `data:text/javascript,${encodeURIComponent(teller)}`, ...args],
    env: { ...env, TOLD: told },
  });
  return Math.round(Number(readFileSync(told, 'utf8')) / 1024);
}
