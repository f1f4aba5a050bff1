import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { readLastLines, readResultLines } from '../support/batch-command.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { startServiceForTest } from '../support/service-for-test.ts';
import { isPosix } from '../support/system.ts';

const ROW_COUNT = 8;
const ARGS = ['batch', 'sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '--rate', '0'];

function createHomeWithRows(): string {
  const home = createTemporaryDirectory();
  const rows = Array.from({ length: ROW_COUNT }, (_, index) => `{"note":"row-${index + 1}"}\n`);
  writeFileSync(path.join(home, 'rows.jsonl'), rows.join(''));
  return home;
}

/** Returns the rows of the journal whose creation was announced and is not known to be over. */
function listOpenRows(home: string): string[] {
  const states = new Map<string, string>();
  for (const line of readWholeLines(path.join(home, 'results.jsonl.journal'))) {
    const { id, state } = JSON.parse(line) as { id?: string; state?: string };
    if (id !== undefined && state !== undefined) states.set(id, state);
  }
  return [...states].filter(([, state]) => state === 'creating').map(([id]) => id);
}

function readWholeLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

/** Returns the row of each run, by its output. */
function listRowsOfRuns(runs: readonly { outputs: readonly { data: string }[] }[]): string[] {
  return runs.map(({ outputs }) => /row-\d+/u.exec(outputs[0]?.data ?? '')?.[0] ?? '?');
}

test('a batch that is killed and resumed runs each row once and loses none', async () => {
  const { env, runs, settled } = await startServiceForTest();
  const home = createHomeWithRows();
  const running = startCommand([...ARGS, '-o', 'delaySeconds=1'], { env, home });

  await expect.poll(() => listOpenRows(home)).toContain('5');

  running.child.kill('SIGKILL');
  await running.ended;

  expect(listOpenRows(home)).not.toEqual([]);

  const resumed = await runCommand([...ARGS, '-o', 'delaySeconds=1', '--resume'], { env, home });
  expect(resumed).toMatchObject({ code: 0 });

  await settled();
  const rowsOfRuns = listRowsOfRuns(await runs());

  expect(rowsOfRuns.toSorted()).toEqual(
    Array.from({ length: ROW_COUNT }, (_, index) => `row-${index + 1}`),
  );
  expect(readResultLines(home).map(({ runStatus }) => runStatus)).toEqual(
    Array.from({ length: ROW_COUNT }, () => 'succeeded'),
  );
  expect(existsSync(path.join(home, 'results.jsonl.journal'))).toBe(false);
});

test('a second batch on the same results is refused, and not once the first one was killed', async () => {
  const { env } = await startServiceForTest();
  const home = createHomeWithRows();
  const delayed = [...ARGS, '-o', 'delaySeconds=1'];

  // One row after the other, so that the first batch lasts until it is killed.
  const first = startCommand([...delayed, '--concurrency', '1'], { env, home });
  await expect.poll(() => listOpenRows(home)).not.toEqual([]);

  const second = await runCommand([...delayed, '--resume'], { env, home });
  expect(second.code).toBe(EXIT.usage);
  expect(second.stderr).toContain('results.jsonl');

  first.child.kill('SIGKILL');
  await first.ended;

  expect((await runCommand([...delayed, '--resume', '--dry-run'], { env, home })).code).toBe(0);
  expect((await runCommand([...delayed, '--resume'], { env, home })).code).toBe(0);
});

test.runIf(isPosix)(
  'a batch at Ctrl-C finishes the runs that were sent, and ends with 130',
  async () => {
    const { env, runs } = await startServiceForTest();
    const home = createHomeWithRows();
    const running = startCommand([...ARGS, '-o', 'delaySeconds=1', '--concurrency', '2'], {
      env,
      home,
    });

    // A row that was not sent yet would be left for --resume.
    await expect.poll(async () => (await runs()).length).toBeGreaterThan(0);

    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;

    expect(code).toBe(EXIT.interrupted);
    expect(stderr).toContain('not done');
    expect(new Set(readLastLines(home).map(({ runStatus }) => runStatus))).toEqual(
      new Set(['succeeded']),
    );
  },
);
