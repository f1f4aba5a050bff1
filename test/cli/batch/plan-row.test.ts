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

const createResult = (
  runStatus: string,
  runId: string | null = null,
  error = '',
): Partial<RowHistory> => ({
  result: toResultState({ row: 1, runStatus, runId, error: error || null, outputs: [] }),
});

const createState = (
  step: JobState['step'],
  overrides: Partial<JobState> = {},
): { state: JobState } => ({
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
    ...overrides,
  },
});

const createDoubt = (settlement?: RowHistory['settlement']): Partial<RowHistory> => ({
  ...createState('creating'),
  ...(settlement && { settlement }),
});

const GONE = 'no such run (NOT_FOUND_ERROR)';
const CREATE = { kind: 'create' };
const WAIT = { kind: 'wait', runId: 'r', recovered: false };
const leftAs = (reason: string): object => ({ kind: 'leave', reason });
const RETRY_ALL = { retryFailed: true, retryUnknown: true };

describe('the plan of --resume for a row', () => {
  test.each<[string, Partial<RowHistory>, object, object]>([
    ['nothing is known of it', {}, {}, CREATE],
    ['it succeeded', createResult('succeeded', 'r'), {}, leftAs('succeeded')],
    [
      'it succeeded, all is retried',
      createResult('succeeded', 'r'),
      RETRY_ALL,
      leftAs('succeeded'),
    ],
    [
      'its files are missing, none are wanted',
      createResult('succeeded', 'r', 'x'),
      {},
      leftAs('succeeded'),
    ],
    ['its files are missing', createResult('succeeded', 'r', 'x'), { savesOutputs: true }, WAIT],
    ['it failed', createResult('failed', 'r', 'x'), {}, leftAs('failed')],
    [
      'it failed, failed ones are retried',
      createResult('failed', 'r', 'x'),
      { retryFailed: true },
      CREATE,
    ],
    [
      'the service had lost its run',
      createResult('failed', 'r', GONE),
      { retryFailed: true },
      WAIT,
    ],
    ['its creation is in doubt', createDoubt(), { retryFailed: true }, leftAs('in doubt')],
    ['its creation is in doubt, those are retried', createDoubt(), { retryUnknown: true }, CREATE],
    [
      'its creation can be sent again',
      createDoubt({ kind: 'repeat' }),
      RETRY_ALL,
      { kind: 'repeat', entry: ENTRY },
    ],
    [
      'its run was found in the list',
      createDoubt({ kind: 'wait', runId: 'r' }),
      RETRY_ALL,
      { kind: 'wait', runId: 'r', recovered: true },
    ],
    [
      'its creation made no run',
      createDoubt({ kind: 'none' }),
      {},
      { kind: 'write line', error: expect.any(String), mayHaveRun: false },
    ],
    [
      'it may have one of several runs',
      createDoubt({ kind: 'in doubt', candidates: [] }),
      {},
      leftAs('in doubt'),
    ],
    ['its creation was refused for now', createState('waiting'), {}, CREATE],
    ['its run is known', createState('running', { runId: 'r' }), RETRY_ALL, WAIT],
    [
      'it failed before, and is in doubt since it was retried',
      { ...createDoubt(), ...createResult('failed', 'r', 'x') },
      {},
      leftAs('in doubt'),
    ],
    ['it has ended, only its line is missing', createState('succeeded', { runId: 'r' }), {}, WAIT],
    [
      'it has ended again, and its line is that of the time before',
      { ...createState('succeeded', { runId: 'r' }), ...createResult('failed', 'q', 'x') },
      {},
      WAIT,
    ],
    [
      'it has ended, and has its line',
      { ...createState('succeeded', { runId: 'r' }), ...createResult('succeeded', 'r') },
      {},
      leftAs('succeeded'),
    ],
    [
      'it has failed without a run, only its line is missing',
      createState('failed', { error: 'no (X)' }),
      {},
      { kind: 'write line', error: 'no (X)', mayHaveRun: false },
    ],
  ])('follows from its history: %s', (_, knownHistory, options, expectedPlan) => {
    const history = { state: undefined, result: undefined, settlement: undefined, ...knownHistory };
    expect(planRow(history, { ...NO_RETRY, ...options })).toEqual(expectedPlan);
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
