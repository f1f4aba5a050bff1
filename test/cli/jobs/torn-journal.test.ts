import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { type BatchResult, readLastLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const BATCH = ['hello', '--from', 'rows.csv', '--out', 'results.jsonl', '--concurrency', '1'];

interface StoppedBatch {
  readonly home: string;
  readonly journalPath: string;
  readonly resume: (...flags: readonly string[]) => Promise<BatchResult>;
  readonly countRuns: () => Promise<number>;
}

/** Runs a batch of four rows that is stopped by its cap after two of them. */
async function stopBatchAfterTwoRows(): Promise<StoppedBatch> {
  const { env, runs } = await startServiceForTest();
  const home = createDirectoryWith({ 'rows.csv': 'name\nAda\nBo\nCy\nDi\n' });
  const { exitCode } = await runBatchCommand([...BATCH, '--max-credits', '2'], { env, home });
  expect(exitCode).toBe(EXIT.capReached);

  return {
    home,
    journalPath: path.join(home, 'results.jsonl.journal'),
    resume: (...flags) => runBatchCommand([...BATCH, '--resume', ...flags], { env, home }),
    countRuns: async () => (await runs()).length,
  };
}

/** Cuts off a journal so that only a fraction of its first line, or of the other lines, is left. */
function tear(journalPath: string, lines: 'first line' | 'other lines', fraction: number): void {
  const { length } = readFileSync(journalPath);
  const firstLength = readFileSync(journalPath, 'utf8').indexOf('\n') + 1;
  const newLength =
    lines === 'first line'
      ? firstLength * fraction
      : firstLength + (length - firstLength) * fraction;
  truncateSync(journalPath, Math.floor(newLength));
}

describe('a batch whose journal is torn', () => {
  test.each([0.05, 0.5, 0.95])(
    'within its first line (%d) is not resumed, since nothing says what it ran',
    async fraction => {
      const { journalPath, resume, countRuns } = await stopBatchAfterTwoRows();
      tear(journalPath, 'first line', fraction);

      expect((await resume()).exitCode).toBe(EXIT.usage);
      expect(await countRuns()).toBe(2);
    },
  );

  test.each([0, 0.2, 0.4, 0.6, 0.8, 0.95])(
    'after its first line (%d) is resumed, and no row is paid for twice',
    async fraction => {
      const { home, journalPath, resume, countRuns } = await stopBatchAfterTwoRows();
      tear(journalPath, 'other lines', fraction);

      expect((await resume()).exitCode).toBe(0);
      expect(await countRuns()).toBe(4);
      expect(readLastLines(home).map(({ runStatus }) => runStatus)).toEqual(
        Array(4).fill('succeeded'),
      );
      expect(existsSync(journalPath)).toBe(false);
    },
  );

  test('again and again is resumed, and no row is paid for twice', async () => {
    const { journalPath, resume, countRuns } = await stopBatchAfterTwoRows();
    tear(journalPath, 'other lines', 0.5);
    expect((await resume('--max-credits', '3')).exitCode).toBe(EXIT.capReached);
    expect(await countRuns()).toBe(3);

    appendFileSync(journalPath, '{"row":4,"id":"4","sta');
    expect((await resume('--max-credits', '3')).exitCode).toBe(EXIT.capReached);

    appendFileSync(journalPath, '\0'.repeat(70));
    expect((await resume('--max-credits', '3')).exitCode).toBe(EXIT.capReached);
    expect(await countRuns()).toBe(3);

    expect((await resume()).exitCode).toBe(0);
    expect(await countRuns()).toBe(4);
  });
});
