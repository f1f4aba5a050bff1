import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { readLastLines, readResultLines } from '../support/batch-command.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { startServiceForTest } from '../support/service-for-test.ts';
import { isPosix } from '../support/system.ts';

const ROWS = 8;
const ARGS = ['batch', 'sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '--rate', '0'];

function homeWithRows(): string {
  const home = createTemporaryDirectory();
  const rows = Array.from({ length: ROWS }, (_, index) => `{"note":"row-${index + 1}"}\n`);
  writeFileSync(path.join(home, 'rows.jsonl'), rows.join(''));
  return home;
}

/**
 * Rows whose creation has been announced and is not known to be over, as the batch's journal has
 * it.
 */
function open(home: string): string[] {
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

/** Returns the rows that have a run, by the outputs of the runs. */
function listGreetedRows(runs: readonly { outputs: readonly { data: string }[] }[]): string[] {
  return runs.map(({ outputs }) => /row-\d+/u.exec(outputs[0]?.data ?? '')?.[0] ?? '?');
}

test('if a batch is killed and resumed, each row runs once and none is lost', async () => {
  const { env, runs, settled } = await startServiceForTest();
  const home = homeWithRows();
  const running = startCommand([...ARGS, '-o', 'delaySeconds=1'], { env, home });

  await expect.poll(() => open(home)).toContain('5');

  running.child.kill('SIGKILL');
  await running.ended;

  expect(open(home)).not.toEqual([]);

  const resumed = await runCommand([...ARGS, '-o', 'delaySeconds=1', '--resume'], { env, home });
  expect(resumed).toMatchObject({ code: 0 });

  await settled();
  const once = listGreetedRows(await runs());

  expect(once.toSorted()).toEqual(Array.from({ length: ROWS }, (_, index) => `row-${index + 1}`));
  expect(readResultLines(home).map(({ runStatus }) => runStatus)).toEqual(
    Array.from({ length: ROWS }, () => 'succeeded'),
  );
  expect(existsSync(path.join(home, 'results.jsonl.journal'))).toBe(false);
});

test('a second batch on the same results is refused, and not once the first one was killed', async () => {
  const { env } = await startServiceForTest();
  const home = homeWithRows();
  const delayed = [...ARGS, '-o', 'delaySeconds=1'];

  // One row after the other, so that the first batch lasts until it is killed.
  const first = startCommand([...delayed, '--concurrency', '1'], { env, home });
  await expect.poll(() => open(home)).not.toEqual([]);

  const second = await runCommand([...delayed, '--resume'], { env, home });
  expect(second.code).toBe(EXIT.usage);
  expect(second.stderr).toContain('results.jsonl');

  first.child.kill('SIGKILL');
  await first.ended;

  expect((await runCommand([...delayed, '--resume', '--dry-run'], { env, home })).code).toBe(0);
  expect((await runCommand([...delayed, '--resume'], { env, home })).code).toBe(0);
});

test.runIf(isPosix)('Ctrl-C lets what runs finish and ends with 130', async () => {
  const { env, runs } = await startServiceForTest();
  const home = homeWithRows();
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
});
