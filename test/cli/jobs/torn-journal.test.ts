import { appendFileSync, cpSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { lastLines, runBatchCommand } from '../../support/batch-command.ts';
import { directoryWith, temporaryDirectory } from '../../support/context.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const ARGS = ['hello', '--from', 'rows.csv', '--out', 'results.jsonl'];

test('a journal that is torn anywhere can be resumed again and again, and no row is paid for twice', async () => {
  const { env, runs } = await startServiceForTest();
  const home = directoryWith({ 'rows.csv': 'name\nAda\nBo\nCy\nDi\n' });
  const stopped = await runBatchCommand([...ARGS, '--max-credits', '2', '--concurrency', '1'], {
    env,
    home,
  });

  expect(stopped.exitCode).toBe(EXIT.capReached);

  const whole = readFileSync(path.join(home, 'results.jsonl.journal'), 'utf8');
  const first = whole.indexOf('\n') + 1;
  for (let size = whole.length - 1; size > 0; size -= 197) {
    const copy = temporaryDirectory();
    cpSync(home, copy, { recursive: true });
    const journal = path.join(copy, 'results.jsonl.journal');
    truncateSync(journal, size);
    const before = (await runs()).length;
    const go = (more: readonly string[] = []) =>
      runBatchCommand([...ARGS, '--resume', ...more], { env, home: copy });
    const again = await go(['--max-credits', '3', '--concurrency', '1']);

    // If its first line may have been lost, rows that have no result are refused.
    expect(again.exitCode, String(size)).toBe(size < first ? 2 : 8);
    expect((await runs()).length - before).toBe(size < first ? 0 : 1);

    if (size < first) continue;

    for (const torn of ['{"row":4,"id":"4","sta', '\0'.repeat(70)]) {
      appendFileSync(journal, torn);
      expect((await go(['--max-credits', '3'])).exitCode).toBe(EXIT.capReached);
    }

    expect((await runs()).length - before).toBe(1);
    expect((await go()).exitCode).toBe(0);
    expect((await runs()).length - before).toBe(2);
    expect(lastLines(copy).map(({ runStatus }) => runStatus)).toEqual(Array(4).fill('succeeded'));
    expect(existsSync(journal)).toBe(false);
  }
});
