import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../../../src/cli/core/clock.ts';
import type { Run } from '../../../../src/wire/index.ts';
import { TEST_NOW } from '../../../support/context.ts';
import {
  type Exchange,
  failure,
  type PlainAnswer,
  success,
} from '../../../support/scripted-service.ts';
import { PROMPT, RUN, succeededRun, VERSION } from './run-against-service.ts';

/** A creation that is answered before its run has ended. */
export const creationOfRunningRun: Exchange = {
  expect: { method: 'POST', path: '/runs' },
  answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: RUN }),
};

/** Returns a poll and its answer, a run with these fields. */
export const pollOf = (run: Partial<Run>): Exchange => ({
  expect: { path: `/runs/${RUN}` },
  answer: success(succeededRun(run)),
});

export const pollOfRunningRun = pollOf({ runStatus: 'running', outputs: [], tokens: 0 });

export const pollOfUnknownRun: Exchange = {
  expect: { path: `/runs/${RUN}` },
  answer: failure(404, 'NOT_FOUND_ERROR', 'gone'),
};

/** Returns polls of a run that never leaves the queue; the first one ends the hour. */
export const pollsOfQueuedRun = (runOut: () => void): Exchange => ({
  expect: { path: `/runs/${RUN}` },
  times: 'any',
  answer: () => {
    runOut();
    return success(succeededRun({ runStatus: 'queued', outputs: [] }));
  },
});

/** Returns a creation with this answer, mostly a fault or one without a run. */
export const answerCreation = (answer: Exchange['answer']): Exchange => ({
  expect: { method: 'POST', path: '/runs' },
  answer,
});

/** Returns an answer of a service whose clock shows this time. */
export const answerDated = (time: number, answer: PlainAnswer): PlainAnswer => ({
  ...answer,
  headers: { ...answer.headers, date: new Date(time).toUTCString() },
});

/** Returns a creation that gets no answer; it ends the hour. */
export const leaveCreationUnanswered = (runOut: () => void): Exchange =>
  answerCreation(() => {
    runOut();
    return 'silence';
  });

/** Returns a row of the list of runs. */
export const listedRun = (runId: string, more: object = {}): object => ({
  runId,
  promptVersionId: VERSION,
  outputs: [],
  runStatus: 'running',
  credits: null,
  runName: 'x',
  createdAt: new Date(TEST_NOW + 1000).toISOString(),
  ...more,
});

/** Returns a look at the list of runs, which has these rows. */
export const runList = (...rows: object[]): Exchange => ({
  expect: { method: 'GET', path: '/runs' },
  answer: answerDated(TEST_NOW, success({ rows, hasMore: false })),
});

/** Says that nobody else uses the key. */
export const EXCLUSIVE = { env: { PROMPTRUN_EXCLUSIVE_KEY: '1' } };
export const RUN_IT = ['run', VERSION, '-i', 'name=Ada'];

const HOUR_MS = 3_600_000;

export const readJournal = (home: string): unknown[] =>
  readFileSync(path.join(home, 'state', 'journal.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);

/** `createHourglass` says when this time is over. */
export const HOUR_TIMEOUT = ['--timeout', '1h'];

/** Returns a search for `hello` that finds these slugs. */
export function promptSearch(...slugs: string[]): Exchange {
  return {
    expect: { path: '/prompts/publish', query: { q: 'hello' } },
    answer: success({
      rows: slugs.map(slug => ({ slug, promptId: PROMPT, promptVersionId: VERSION, title: slug })),
    }),
  };
}

/**
 * Returns a clock on which every wait is over at once, except the hour, which ends when `runOut` is
 * called.
 */
export function createHourglass(): { clock: Pick<Clock, 'sleep'>; runOut: () => void } {
  let runOut = (): void => {};
  const hourIsOver = new Promise<void>(resolve => (runOut = resolve));
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms >= HOUR_MS) await hourIsOver;
    await new Promise(resolve => setImmediate(resolve));
    signal?.throwIfAborted();
  };

  return { clock: { sleep }, runOut };
}
