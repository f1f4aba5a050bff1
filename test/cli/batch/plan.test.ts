import { describe, expect, test } from 'vitest';
import { isInShard, parseShard } from '../../../src/cli/batch/rows/shard.ts';
import { planRow } from '../../../src/cli/batch/run/schedule.ts';

const NO_RETRY = { retryFailed: false, retryUnknown: false, saves: false };
const state = (runStatus: string, runId?: string, failed = false) => ({ row: 1, runStatus, runId, failed });

describe('what --resume does with a row', () => {
  test.each([
    ['nothing is known of it', undefined, {}, { kind: 'create' }],
    ['it succeeded', state('succeeded', 'r'), {}, { kind: 'leave', because: 'succeeded' }],
    [
      'it succeeded, all is retried',
      state('succeeded', 'r'),
      { retryFailed: true, retryUnknown: true },
      { kind: 'leave', because: 'succeeded' },
    ],
    [
      'its files are missing and none are wanted',
      state('succeeded', 'r', true),
      {},
      { kind: 'leave', because: 'succeeded' },
    ],
    ['its files are missing', state('succeeded', 'r', true), { saves: true }, { kind: 'wait', runId: 'r' }],
    ['it failed', state('failed', 'r', true), {}, { kind: 'leave', because: 'failed' }],
    [
      'it failed, failed ones are retried',
      state('failed', 'r', true),
      { retryFailed: true },
      { kind: 'create' },
    ],
    [
      'its creation was begun',
      state('creating'),
      { retryFailed: true },
      { kind: 'leave', because: 'in doubt' },
    ],
    [
      'its creation was begun, doubtful ones are retried',
      state('creating'),
      { retryUnknown: true },
      { kind: 'create' },
    ],
    [
      'its run was not found',
      state('unknown'),
      { retryFailed: true },
      { kind: 'leave', because: 'in doubt' },
    ],
    [
      'its run was not found, doubtful ones are retried',
      state('unknown'),
      { retryUnknown: true },
      { kind: 'create' },
    ],
    ['its creation was told off', state('waiting'), {}, { kind: 'create' }],
    [
      'its run is known',
      state('running', 'r'),
      { retryFailed: true, retryUnknown: true },
      { kind: 'wait', runId: 'r' },
    ],
    ['a status that is not known yet, with a run', state('paused', 'r'), {}, { kind: 'wait', runId: 'r' }],
    ['a status that is not known yet, without', state('paused'), {}, { kind: 'leave', because: 'in doubt' }],
  ])('%s', (_, before, options, expected) => {
    expect(planRow(before, { ...NO_RETRY, ...options })).toEqual(expected);
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

  test.each(['', '1', '0/2', '3/2', '1/0', 'a/b', '1/2/3', '-1/2', '1.5/2'])('%j is refused', text => {
    expect(() => parseShard(text)).toThrow('--shard needs i/n');
  });
});
