import { describe, expect, test } from 'vitest';
import { planRow, type RowHistory } from '../../../src/cli/batch/plan-row.ts';
import { toResultState } from '../../../src/cli/batch/results/result-state.ts';
import { isInShard, parseShard } from '../../../src/cli/inputs/rows/shard.ts';
import type { JobState } from '../../../src/cli/jobs/read-journal.ts';

const NO_RETRY = { retryFailed: false, retryUnknown: false, savesOutputs: false };

const ENTRY = {
  id: 'key',
  time: '2026-01-02T03:04:05Z',
  baseUrl: '',
  promptVersionId: 'v',
  inputsDigest: 'd',
};

const result = (
  runStatus: string,
  runId: string | null = null,
  error = '',
): Partial<RowHistory> => ({
  result: toResultState({ row: 1, runStatus, runId, error: error || null, outputs: [] }),
});

const state = (step: JobState['step'], more: Partial<JobState> = {}): { state: JobState } => ({
  state: {
    row: 1,
    step,
    entry: ENTRY,
    runId: undefined,
    runIds: [],
    recovered: false,
    error: undefined,
    mayHaveRun: false,
    result: undefined,
    ...more,
  },
});

const inDoubt = (settlement?: RowHistory['settlement']): Partial<RowHistory> => ({
  ...state('creating'),
  ...(settlement && { settlement }),
});

const GONE = 'no such run (NOT_FOUND_ERROR)';
const CREATE = { kind: 'create' };
const WAIT = { kind: 'wait', runId: 'r', recovered: false };
const leftBecause = (because: string): object => ({ kind: 'leave', because });
const BOTH = { retryFailed: true, retryUnknown: true };

describe('what --resume does with a row', () => {
  test.each<[string, Partial<RowHistory>, object, object]>([
    ['nothing is known of it', {}, {}, CREATE],
    ['it succeeded', result('succeeded', 'r'), {}, leftBecause('succeeded')],
    ['it succeeded, all is retried', result('succeeded', 'r'), BOTH, leftBecause('succeeded')],
    [
      'its files are missing, none are wanted',
      result('succeeded', 'r', 'x'),
      {},
      leftBecause('succeeded'),
    ],
    ['its files are missing', result('succeeded', 'r', 'x'), { savesOutputs: true }, WAIT],
    ['it failed', result('failed', 'r', 'x'), {}, leftBecause('failed')],
    [
      'it failed, failed ones are retried',
      result('failed', 'r', 'x'),
      { retryFailed: true },
      CREATE,
    ],
    ['the service had lost its run', result('failed', 'r', GONE), { retryFailed: true }, WAIT],
    ['its creation is in doubt', inDoubt(), { retryFailed: true }, leftBecause('in doubt')],
    ['its creation is in doubt, those are retried', inDoubt(), { retryUnknown: true }, CREATE],
    [
      'its creation can be sent again',
      inDoubt({ kind: 'repeat' }),
      BOTH,
      { kind: 'repeat', entry: ENTRY },
    ],
    [
      'its run was found in the list',
      inDoubt({ kind: 'wait', runId: 'r' }),
      BOTH,
      { kind: 'wait', runId: 'r', recovered: true },
    ],
    [
      'its creation made no run',
      inDoubt({ kind: 'none' }),
      {},
      { kind: 'write line', error: expect.any(String), mayHaveRun: false },
    ],
    [
      'it may have one of several runs',
      inDoubt({ kind: 'in doubt', candidates: [] }),
      {},
      leftBecause('in doubt'),
    ],
    ['its creation was refused for now', state('waiting'), {}, CREATE],
    ['its run is known', state('running', { runId: 'r' }), BOTH, WAIT],
    [
      'it failed before, and is in doubt since it was retried',
      { ...inDoubt(), ...result('failed', 'r', 'x') },
      {},
      leftBecause('in doubt'),
    ],
    ['it has ended, only its line is missing', state('succeeded', { runId: 'r' }), {}, WAIT],
    [
      'it has ended again, and its line is that of the time before',
      { ...state('succeeded', { runId: 'r' }), ...result('failed', 'q', 'x') },
      {},
      WAIT,
    ],
    [
      'it has ended, and has its line',
      { ...state('succeeded', { runId: 'r' }), ...result('succeeded', 'r') },
      {},
      leftBecause('succeeded'),
    ],
    [
      'it has failed without a run, only its line is missing',
      state('failed', { error: 'no (X)' }),
      {},
      { kind: 'write line', error: 'no (X)', mayHaveRun: false },
    ],
  ])('%s', (_, known, options, expected) => {
    const knowledge = { state: undefined, result: undefined, settlement: undefined, ...known };
    expect(planRow(knowledge, { ...NO_RETRY, ...options })).toEqual(expected);
  });
});

describe('--shard', () => {
  test('every row is in exactly one', () => {
    const shards = ['1/3', '2/3', '3/3'].map(parseShard);
    for (let row = 1; row <= 20; row += 1) {
      expect(shards.filter(shard => isInShard(shard, row))).toHaveLength(1);
    }
    expect(isInShard(undefined, 7)).toBe(true);
  });

  test.each(['', '1', '0/2', '3/2', '1/0', 'a/b', '1/2/3', '-1/2', '1.5/2'])(
    '%j is refused',
    text => {
      expect(() => parseShard(text)).toThrow('--shard needs i/n');
    },
  );
});
