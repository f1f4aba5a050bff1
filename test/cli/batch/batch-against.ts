import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/cli/core/clock.ts';
import {
  type BatchResult,
  readJournalSteps,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import {
  type Call,
  type Exchange,
  failure,
  type PlainAnswer,
  type ScriptedAnswer,
  type ScriptedService,
  startScriptedService,
  success,
  versionLookup,
} from '../../support/scripted-service.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';

/** The environment of a user who is the only one with the key. */
export const EXCLUSIVE_KEY = { env: { PROMPTRUN_EXCLUSIVE_KEY: '1' } };
export const HOUR_MS = 3_600_000;
export const VERSION = randomUUID();
export const TOO_MANY = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down');

/** The look-up of the version that batches run. */
export const versionExchange = versionLookup(VERSION);

/** Any number of look-ups of the list of runs, which is empty. */
export const emptyRunList: Exchange = {
  expect: { method: 'GET', path: '/runs' },
  answer: success({ rows: [], hasMore: false }),
  times: 'any',
};

/** Returns the name in the row that a call creates a run for. */
export function findCreatedName(call: Call): string {
  return (call.body as { inputs: { textInputs: { name: string } } }).inputs.textInputs.name;
}

/** Returns the creation for the row of this name, and its answer. */
export function creation(name: string, answer: ScriptedAnswer, times?: number): Exchange {
  return {
    expect: {
      method: 'POST',
      path: '/runs',
      body: body => findCreatedName({ body } as Call) === name,
    },
    answer,
    ...(times !== undefined && { times }),
  };
}

export function succeededAnswer(runId: string = randomUUID()): PlainAnswer {
  return success({ runId, outputs: [], runStatus: 'succeeded', tokens: 1 });
}

export interface BatchOptions {
  /** The content of the file of rows; Ada and Bo by default. */
  readonly rows?: string;
  readonly flags?: readonly string[];
  readonly clock?: Clock;
  readonly env?: Record<string, string>;
  /** The directory of an earlier batch, to resume it; a new one by default. */
  readonly home?: string;
  /** Changes the answer to the look-up of the version. */
  readonly version?: (answer: PlainAnswer) => PlainAnswer;
}

/** The list that a batch reads at its end for the credits of its runs. */
export const creditsList: Exchange = {
  expect: { method: 'GET', path: '/runs', query: { since: null } },
  answer: success({ rows: [], hasMore: false }),
  times: 'any',
};

/**
 * Runs a batch, one row at a time, against a service that also answers for its version and its
 * credits.
 */
export async function runBatchAgainst(
  script: readonly Exchange[],
  options: BatchOptions = {},
): Promise<BatchResult & { home: string; service: ScriptedService }> {
  const { rows = 'name\nAda\nBo\n', flags = [], clock = createHastyClock(), env = {} } = options;
  const versionRequest = {
    ...versionExchange,
    answer: (options.version ?? (answer => answer))(versionExchange.answer as PlainAnswer),
  };
  const exchanges = [{ ...versionRequest, times: 'any' as const }, ...script, creditsList];
  const service = await startScriptedService(exchanges, { isOrdered: false });
  onTestFinished(() => service.close());
  const home = options.home ?? createDirectoryWith({ 'names.csv': rows });
  const args = [
    VERSION,
    '--from',
    'names.csv',
    '--out',
    'results.jsonl',
    '--concurrency',
    '1',
    ...flags,
  ];

  const result = await runBatchCommand(args, {
    env: { ...buildServiceEnv(service.baseUrl), ...env },
    home,
    clock,
  });
  return { ...result, home, service };
}

/** Returns a promise that the test resolves with `open`. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => (open = resolve));
  return { opened, open };
}

/** Returns the states of a batch's journal, in the order in which they were written. */
export const listJournalStates = (home: string): string[] =>
  readJournalSteps(home).map(({ state }) => state);
