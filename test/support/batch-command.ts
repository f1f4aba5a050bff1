import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runInProcess, startInProcess, type TestOptions } from './context.ts';
import { createHastyClock } from './hasty-clock.ts';

/** A line of a results file. */
export interface ResultLine {
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

/** Runs `batch` in this process, without any real waiting, as fast as it can. */
export async function runBatchCommand(
  args: readonly string[],
  options: TestOptions,
): Promise<BatchResult> {
  const argv = ['batch', ...args, '--rate', '0'];
  const { exitCode, stdout, stderr } = await runInProcess(argv, {
    clock: createHastyClock(),
    ...options,
  });
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

export interface BatchResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `batch` in this process without waiting for its end. */
export function startBatchCommand(
  args: readonly string[],
  options: TestOptions,
): ReturnType<typeof startInProcess> {
  return startInProcess(['batch', ...args, '--rate', '0'], {
    clock: createHastyClock(),
    ...options,
  });
}

export function parseLines(text: string): ResultLine[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as ResultLine);
}

export function readResultLines(home: string, file = 'results.jsonl'): ResultLine[] {
  return parseLines(readFileSync(path.join(home, file), 'utf8'));
}

/** A line of a batch's journal. */
export interface JournalStep {
  readonly row: number;
  readonly id: string;
  readonly state: string;
  readonly runId?: string | null;
  readonly digest?: string;
  readonly candidates?: readonly string[];
}

/** Returns the steps in a batch's journal, without its first line; none once it was removed. */
export function readJournalSteps(home: string, file = 'results.jsonl'): JournalStep[] {
  const journal = path.join(home, `${file}.journal`);
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line) as JournalStep).filter(({ row }) => row !== undefined);
}

/** Returns the last line of each row, in the order of the rows. */
export function readLastLines(home: string, file = 'results.jsonl'): ResultLine[] {
  const last = new Map(readResultLines(home, file).map(line => [line.id, line]));
  return [...last.values()].sort((one, other) => one.row - other.row);
}
