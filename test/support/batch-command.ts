import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/cli/core/types.ts';
import { type Service, startService } from '../../src/service/index.ts';
import {
  removeDirectory,
  runInProcess,
  startInProcess,
  TEST_NOW,
  type TestOptions,
  temporaryDirectory,
} from './context.ts';

/** A line of a results file. */
export interface Line {
  readonly row: number;
  readonly id: string;
  readonly runId?: string | null;
  readonly runStatus: string;
  readonly outputs?: readonly { type: string; data: string; savedTo?: string }[];
  readonly tokens?: number;
  readonly error?: string | null;
  readonly seconds?: number | null;
  readonly recovered?: boolean;
}

/** A service of the test's own, and how many runs it has. */
export interface TestService {
  readonly service: Service;
  readonly env: Readonly<Record<string, string>>;
  readonly runs: () => Promise<TestRun[]>;
  /** Resolves once no run goes on any more. */
  readonly settled: () => Promise<void>;
}

export interface TestRun {
  readonly runId: string;
  readonly runStatus: string;
  readonly outputs: readonly { readonly data: string }[];
}

/** Starts a service that is closed at the end of the test, or by whatever `atEnd` gets it. */
export async function localService(
  options: { syncWindowMs?: number } = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<TestService> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'promptrun-test-'));
  const service = await startService({ dataDir, env: {}, ...options });
  atEnd(async () => {
    await service.close();
    removeDirectory(dataDir);
  });
  const runs = async (): Promise<TestRun[]> => {
    const answer = await fetch(`${service.url}/runs?limit=50`, {
      headers: { authorization: `Bearer ${service.sessionKey}` },
    });
    return ((await answer.json()) as { data: { rows: TestRun[] } }).data.rows;
  };
  return {
    service,
    env: serviceEnv(service.url, service.sessionKey),
    runs,
    async settled() {
      while ((await runs()).some(({ runStatus }) => runStatus === 'queued' || runStatus === 'running')) {
        await new Promise(resolve => setImmediate(resolve));
      }
    },
  };
}

export function serviceEnv(baseUrl: string, key = 'a-key'): Record<string, string> {
  return { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
}

/** How long the pause between two lines of progress is. */
const PROGRESS_MS = 10_000;

/**
 * Returns a clock that moves on by a millisecond each time it is read. Sleeps are over at once, except the pause between
 * two lines of progress, and those that `held` holds up.
 */
export function hastyClock(
  held: (ms: number, signal: AbortSignal | undefined) => Promise<unknown> | undefined = () => undefined,
): Clock {
  let now = TEST_NOW;
  return {
    now: () => (now += 1),
    random: () => 0.5,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      await (ms === PROGRESS_MS ? untilAborted(signal) : held(ms, signal));
      await new Promise(resolve => setImmediate(resolve));
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

/** A clock that moves only when a test moves it. */
export class HandClock implements Clock {
  #now = 0;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now = (): number => this.#now;
  random = (): number => 0.5;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      this.#sleepers.push({ until: this.#now + ms, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });

  /** Lets time pass, waking each sleeper at its moment. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settled();
      const [next] = this.#sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until);
      if (next === undefined) {
        break;
      }
      this.#sleepers = this.#sleepers.filter(sleeper => sleeper !== next);
      this.#now = Math.max(this.#now, next.until);
      next.wake();
    }
    this.#now = end;
  }
}

/** Resolves once everything is done that needs no time to pass. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** Rejects with the signal's reason once it is aborted. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** Returns a directory with files in it. */
export function homeWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const home = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return home;
}

/** Runs `batch` in this process, without any real waiting, as fast as it can. */
export async function runBatchCommand(args: readonly string[], options: TestOptions): Promise<BatchResult> {
  const argv = ['batch', ...args, '--rate', '0'];
  const { exitCode, stdout, stderr } = await runInProcess(argv, { clock: hastyClock(), ...options });
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

export interface BatchResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function startBatchCommand(
  args: readonly string[],
  options: TestOptions,
): ReturnType<typeof startInProcess> {
  return startInProcess(['batch', ...args, '--rate', '0'], { clock: hastyClock(), ...options });
}

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
}

export function resultLines(home: string, file = 'results.jsonl'): Line[] {
  return linesOf(readFileSync(path.join(home, file), 'utf8'));
}

/** A line of a batch's journal. */
export interface Step {
  readonly row: number;
  readonly id: string;
  readonly state: string;
  readonly runId?: string | null;
  readonly digest?: string;
  readonly candidates?: readonly string[];
}

/** Returns the steps in a batch's journal, without its first line; none once it was removed. */
export function journalSteps(home: string, file = 'results.jsonl'): Step[] {
  const journal = path.join(home, `${file}.journal`);
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line) as Step).filter(({ row }) => row !== undefined);
}

/** Returns the last line of each row, in the order of the rows. */
export function lastLines(home: string, file = 'results.jsonl'): Line[] {
  const last = new Map(resultLines(home, file).map(line => [line.id, line]));
  return [...last.values()].sort((one, other) => one.row - other.row);
}
