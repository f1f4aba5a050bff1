import { describe, expect, test } from 'vitest';
import {
  formatBar,
  formatSpeed,
  formatTally,
  startBatchProgress,
} from '../../../../src/cli/batch/progress/progress-line.ts';
import { RowTally } from '../../../../src/cli/batch/progress/row-tally.ts';
import { testContext } from '../../../support/context.ts';
import { HandClock, settle } from '../../../support/hand-clock.ts';

function createTally(
  rowCount: number | undefined,
  countsNow: Partial<RowTally['countsNow']>,
  countsBefore: Partial<RowTally['countsNow']> = {},
): RowTally {
  const tally = new RowTally(rowCount);
  Object.assign(tally.countsNow, countsNow);
  Object.assign(tally.countsBefore, countsBefore);
  return tally;
}

describe('the progress of a batch', () => {
  test('shows done, failed, rate and time left', () => {
    const tally = createTally(100, { succeeded: 18, failed: 2 }, { succeeded: 30 });
    expect(formatTally(tally, 10_000)).toBe('50 of 100 done, 2 failed, 2.0/s, 25 s left');
  });

  test('shows no rate before the first row has ended', () => {
    expect(formatTally(createTally(100, {}), 0)).toBe('0 of 100 done, 0 failed');
    const tallyWithDoubt = createTally(4, { succeeded: 1, failed: 1, 'in doubt': 1, running: 1 });
    expect(formatTally(tallyWithDoubt, 1000)).toContain('4 of 4 done, 1 failed');
  });

  test('leaves out the number of rows if it is unknown', () => {
    expect(formatTally(createTally(undefined, { succeeded: 3 }), 60_000)).toBe(
      '3 done, 0 failed, 3.0/min',
    );
  });

  test('shows rates and times with units', () => {
    expect([formatSpeed(25.4), formatSpeed(1.24), formatSpeed(0.5)]).toEqual([
      '25/s',
      '1.2/s',
      '30/min',
    ]);

    const formatAfter = (ms: number): string => formatTally(createTally(2, { succeeded: 1 }), ms);
    expect(formatAfter(125_000)).toMatch(/, 2 min 5 s left$/u);
    expect(formatAfter(11_400_000)).toMatch(/, 3 h 10 min left$/u);
  });

  test('shows a bar that fits the terminal', () => {
    const tally = createTally(4, { succeeded: 1 });
    expect(formatBar(tally, 1000, 80)).toBe(
      '█████░░░░░░░░░░░░░░░ 1 of 4 done, 0 failed, 1.0/s, 3 s left',
    );
    expect(formatBar(tally, 1000, 30)).toBe('1 of 4 done, 0 failed, 1.0/');
  });
});

describe('progress while a batch runs', () => {
  async function printDuring(
    options: Parameters<typeof testContext>[0],
    work: (clock: HandClock, tally: RowTally) => Promise<void>,
  ): Promise<string> {
    const clock = new HandClock();
    const context = await testContext({ ...options, clock });
    const tally = createTally(4, { succeeded: 1 });
    const stop = startBatchProgress(context.ctx, tally, { hasLines: true });
    await work(clock, tally);
    await stop();
    return context.stderr();
  }

  test('is a line every ten seconds off a terminal', async () => {
    const text = await printDuring({}, async (clock, tally) => {
      await clock.pass(9999);
      tally.countsNow.succeeded += 1;
      await clock.pass(10_001);
    });
    expect(text).toBe(
      '2 of 4 done, 0 failed, 12/min, 10 s left\n2 of 4 done, 0 failed, 6.0/min, 20 s left\n',
    );
  });

  test.each([
    ['--no-spinner', { globals: { spinner: false } }],
    ['ACCESSIBLE', { env: { ACCESSIBLE: '1' } }],
  ])('is lines instead of a bar with %s', async (_, options) => {
    const text = await printDuring({ terminal: { stderr: true }, ...options }, clock =>
      clock.pass(10_000),
    );
    expect(text).toBe('1 of 4 done, 0 failed, 6.0/min, 30 s left\n');
  });

  test('is not shown with --quiet', async () => {
    const text = await printDuring(
      { terminal: { stderr: true }, globals: { quiet: true } },
      async clock => {
        await clock.pass(60_000);
        await settle();
      },
    );
    expect(text).toBe('');
  });
});
