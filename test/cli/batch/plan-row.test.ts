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
const buildLeavePlan = (reason: string): object => ({ kind: 'leave', reason });
const RETRY_ALL = { retryFailed: true, retryUnknown: true };

/** The history of a row, and the plan that follows from it. */
interface PlannedRow {
  readonly name: string;
  readonly history: Partial<RowHistory>;
  readonly options?: Partial<typeof NO_RETRY>;
  readonly plan: object;
}

const NOTHING_KNOWN = { state: undefined, result: undefined, settlement: undefined };

describe('the plan of --resume for a row', () => {
  test.each<PlannedRow>([
    { name: 'nothing is known of it', history: {}, plan: CREATE },
    {
      name: 'it succeeded',
      history: createResult('succeeded', 'r'),
      plan: buildLeavePlan('succeeded'),
    },
    {
      name: 'it succeeded, all is retried',
      history: createResult('succeeded', 'r'),
      options: RETRY_ALL,
      plan: buildLeavePlan('succeeded'),
    },
    {
      name: 'its files are missing, none are wanted',
      history: createResult('succeeded', 'r', 'x'),
      plan: buildLeavePlan('succeeded'),
    },
    {
      name: 'its files are missing',
      history: createResult('succeeded', 'r', 'x'),
      options: { savesOutputs: true },
      plan: WAIT,
    },
    {
      name: 'it failed',
      history: createResult('failed', 'r', 'x'),
      plan: buildLeavePlan('failed'),
    },
    {
      name: 'it failed, failed ones are retried',
      history: createResult('failed', 'r', 'x'),
      options: { retryFailed: true },
      plan: CREATE,
    },
    {
      name: 'the service had lost its run',
      history: createResult('failed', 'r', GONE),
      options: { retryFailed: true },
      plan: WAIT,
    },
    {
      name: 'its creation is in doubt',
      history: createDoubt(),
      options: { retryFailed: true },
      plan: buildLeavePlan('in doubt'),
    },
    {
      name: 'its creation is in doubt, those are retried',
      history: createDoubt(),
      options: { retryUnknown: true },
      plan: CREATE,
    },
    {
      name: 'its creation can be sent again',
      history: createDoubt({ kind: 'repeat' }),
      options: RETRY_ALL,
      plan: { kind: 'repeat', entry: ENTRY },
    },
    {
      name: 'its run was found in the list',
      history: createDoubt({ kind: 'wait', runId: 'r' }),
      options: RETRY_ALL,
      plan: { kind: 'wait', runId: 'r', recovered: true },
    },
    {
      name: 'its creation made no run',
      history: createDoubt({ kind: 'none' }),
      plan: { kind: 'write line', error: expect.any(String), mayHaveRun: false },
    },
    {
      name: 'it may have one of several runs',
      history: createDoubt({ kind: 'in doubt', candidates: [] }),
      plan: buildLeavePlan('in doubt'),
    },
    { name: 'its creation was refused for now', history: createState('waiting'), plan: CREATE },
    {
      name: 'its run is known',
      history: createState('running', { runId: 'r' }),
      options: RETRY_ALL,
      plan: WAIT,
    },
    {
      name: 'it failed before, and is in doubt since it was retried',
      history: { ...createDoubt(), ...createResult('failed', 'r', 'x') },
      plan: buildLeavePlan('in doubt'),
    },
    {
      name: 'it has ended, only its line is missing',
      history: createState('succeeded', { runId: 'r' }),
      plan: WAIT,
    },
    {
      name: 'it has ended again, and its line is that of the time before',
      history: { ...createState('succeeded', { runId: 'r' }), ...createResult('failed', 'q', 'x') },
      plan: WAIT,
    },
    {
      name: 'it has ended, and has its line',
      history: { ...createState('succeeded', { runId: 'r' }), ...createResult('succeeded', 'r') },
      plan: buildLeavePlan('succeeded'),
    },
    {
      name: 'it has failed without a run, only its line is missing',
      history: createState('failed', { error: 'no (X)' }),
      plan: { kind: 'write line', error: 'no (X)', mayHaveRun: false },
    },
  ])('follows from its history: $name', ({ history, options, plan }) => {
    const rowHistory = { ...NOTHING_KNOWN, ...history };
    expect(planRow(rowHistory, { ...NO_RETRY, ...options })).toEqual(plan);
  });
});

describe('--shard', () => {
  test('takes every third row into each of three shards', () => {
    const listRows = (text: string): number[] =>
      [1, 2, 3, 4, 5, 6, 7].filter(row => isInShard(parseShard(text), row));
    expect(listRows('1/3')).toEqual([1, 4, 7]);
    expect(listRows('2/3')).toEqual([2, 5]);
    expect(listRows('3/3')).toEqual([3, 6]);
  });

  test('takes every row if it is missing', () => {
    expect(isInShard(undefined, 7)).toBe(true);
  });

  test.each(['', '1', '0/2', '3/2', '1/0', 'a/b', '1/2/3', '-1/2', '1.5/2'])('refuses %j', text => {
    expect(() => parseShard(text)).toThrow('--shard needs i/n');
  });
});
