import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lastLines, linesOf, localService, resultLines } from '../cli/batch/support.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';

const ROWS = 8;
const ARGS = ['batch', 'sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '--rate', '0'];

function homeWithRows(): string {
  const home = temporaryDirectory();
  const rows = Array.from({ length: ROWS }, (_, at) => `{"note":"row-${at + 1}"}\n`);
  writeFileSync(path.join(home, 'rows.jsonl'), rows.join(''));
  return home;
}

function resultsText(home: string): string {
  try {
    const text = readFileSync(path.join(home, 'results.jsonl'), 'utf8');
    return text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    return '';
  }
}

/** Rows whose creation has been announced and is not known to be over. */
function inDoubt(home: string): number {
  const last = new Map(linesOf(resultsText(home)).map(({ id, runStatus }) => [id, runStatus]));
  return [...last.values()].filter(status => status === 'creating').length;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise(resolve => setImmediate(resolve));
  }
}

/** Which rows have a run, by what their runs gave. */
function rowsOf(runs: readonly { outputs: readonly { data: string }[] }[]): string[] {
  return runs.map(({ outputs }) => /row-\d+/u.exec(outputs[0]?.data ?? '')?.[0] ?? '?');
}

test('killed in the middle and gone on with, no row is run twice and none is lost', async () => {
  const { env, runs, settled } = await localService();
  const home = homeWithRows();
  const running = startCommand([...ARGS, '-o', 'delaySeconds=1'], { env, home });
  await until(() => resultsText(home).includes('{"row":5,"id":"5","runStatus":"creating"}'));
  running.child.kill('SIGKILL');
  await running.ended;
  const doubtful = inDoubt(home);
  expect(doubtful).toBeGreaterThan(0);

  const resumed = await runCommand([...ARGS, '--resume'], { env, home });
  expect(resumed.code).toBe(5);
  expect(resumed.stderr).toContain(`${doubtful} in doubt`);
  await settled();
  const once = rowsOf(await runs());
  expect(new Set(once).size).toBe(once.length);
  const missing = ROWS - once.length;
  expect(missing).toBeLessThanOrEqual(doubtful);
  expect(lastLines(home).filter(({ runStatus }) => runStatus === 'succeeded')).toHaveLength(ROWS - doubtful);

  const retried = await runCommand([...ARGS, '--resume', '--retry-unknown'], { env, home });
  expect(retried.code).toBe(0);
  expect(lastLines(home).map(({ runStatus }) => runStatus)).toEqual(
    Array.from({ length: ROWS }, () => 'succeeded'),
  );
  expect(resultLines(home).filter(({ runStatus }) => runStatus === 'succeeded')).toHaveLength(ROWS);
});

test('a second batch on the same results is refused, and not once the first one was killed', async () => {
  const { env } = await localService();
  const home = homeWithRows();
  const first = startCommand([...ARGS, '-o', 'delaySeconds=5'], { env, home });
  await until(() => inDoubt(home) > 0);
  const second = await runCommand([...ARGS, '--resume'], { env, home });
  expect(second.code).toBe(2);
  expect(second.stderr).toContain('another batch is writing to results.jsonl');
  first.child.kill('SIGKILL');
  await first.ended;
  expect((await runCommand([...ARGS, '--resume', '--dry-run'], { env, home })).code).toBe(0);
  expect((await runCommand([...ARGS, '--resume'], { env, home })).code).toBe(5);
});

test('Ctrl-C lets what runs finish and ends with 130', async () => {
  const { env } = await localService();
  const home = homeWithRows();
  const running = startCommand([...ARGS, '-o', 'delaySeconds=1', '--concurrency', '2'], { env, home });
  await until(() => inDoubt(home) > 0);
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain('not done');
  expect(new Set(lastLines(home).map(({ runStatus }) => runStatus))).toEqual(new Set(['succeeded']));
});
