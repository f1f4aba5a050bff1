import { expect, it } from 'vitest';
import { chooseMeasure, type GroupUsage, getUsageKey, UsageTotal } from '../../src/client/usage.ts';
import type { RunRow } from '../../src/wire/index.ts';

const row = (more: Partial<RunRow> = {}): RunRow => ({
  runId: '0b7a52b2-3f0d-4c6f-9a53-0d3a0a5f0001',
  promptVersionId: '0b7a52b2-3f0d-4c6f-9a53-0d3a0a5f0002',
  runName: 'Hello',
  runStatus: 'succeeded',
  createdAt: '2026-11-20T12:00:00.000Z',
  credits: null,
  outputs: [],
  ...more,
});

const usage = (cost: number | null): Pick<RunRow, 'usage'> => ({
  usage: { model: 'clever', tokens: { input: 3, output: 2, cached: 1 }, cost, estimated: false },
});

function sumUsage(key: string, rows: readonly RunRow[]): GroupUsage {
  const total = new UsageTotal();
  for (const run of rows) total.add(run);
  return total.toGroupUsage(key);
}

it('adds up what runs took, without drift, and leaves out what nobody knows', () => {
  const rows = [
    row({ credits: 0.1, ...usage(0.1) }),
    row({ credits: 0.2, ...usage(0.2), runStatus: 'failed' }),
    row({ credits: 'many' as unknown as number, ...usage(null) }),
  ];
  expect(sumUsage('hello', rows)).toEqual({
    key: 'hello',
    runs: 3,
    failed: 1,
    credits: 0.3,
    tokens: { input: 9, output: 6, cached: 3 },
    cost: 0.3,
    estimated: false,
  });
  expect(sumUsage('hello', [row()])).toMatchObject({ credits: 0, tokens: null, cost: null });
});

it('counts a run of unknown cost as unknown beside runs that cost nothing', () => {
  const refused = row({
    runStatus: 'failed',
    usage: { model: 'clever', tokens: null, cost: 0, estimated: false },
  });
  expect(sumUsage('clever', [refused]).cost).toBe(0);
  expect(sumUsage('clever', [refused, row(usage(null))]).cost).toBeNull();
});

it('counts a run that broke off as one of unknown cost, and leaves out runs that have not ended', () => {
  const broken = { model: 'clever', tokens: null, cost: null, estimated: false };
  const sum = new UsageTotal();
  for (const runStatus of ['failed', 'running'] as const) {
    sum.add(row({ runStatus, usage: broken }));
  }
  expect([sum.unpricedRuns, sum.toGroupUsage('clever').cost]).toEqual([1, null]);
});

it('draws bars of money if any was spent, else of credits, else of runs', () => {
  expect(
    chooseMeasure([sumUsage('a', [row()]), sumUsage('b', [row({ credits: 1, ...usage(0.1) })])]),
  ).toBe('cost');
  expect(chooseMeasure([sumUsage('a', [row({ credits: 1, ...usage(0) })])])).toBe('credits');
  expect(chooseMeasure([sumUsage('a', [row()])])).toBe('runs');
});

it('counts a run under its status, its model or its day', () => {
  const run = row(usage(0));
  expect((['status', 'model', 'day'] as const).map(by => getUsageKey(run, by))).toEqual([
    'succeeded',
    'clever',
    '2026-11-20',
  ]);
  expect(getUsageKey(row(), 'model')).toBe('unknown');
});
