import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import {
  type JournalStep,
  parseLines,
  readJournalSteps,
  readLastLines,
  readResultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const NAMES = 'name\nAda\nBo\nEve\n';

describe('a batch on the local service', () => {
  test('runs each row once and writes its result', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const { exitCode, stdout } = await runBatchCommand(
      ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1'],
      { env, home },
    );

    expect(exitCode).toBe(0);
    expect(stdout).toBe('');

    const lines = readResultLines(home);
    expect(lines.map(({ row, runStatus }) => [row, runStatus])).toEqual([
      [1, 'succeeded'],
      [2, 'succeeded'],
      [3, 'succeeded'],
    ]);

    expect(existsSync(path.join(home, 'results.jsonl.journal'))).toBe(false);
    expect(existsSync(path.join(home, 'results.jsonl.lock'))).toBe(false);
    expect(Object.keys(lines[1] ?? {})).toEqual([
      'row',
      'id',
      'runId',
      'runStatus',
      'outputs',
      'tokens',
      'credits',
      'cost',
      'seconds',
      'error',
    ]);

    expect(lines[0]).toMatchObject({ id: '1', error: null, seconds: expect.any(Number) });
    expect(lines[0]?.outputs?.[0]?.data).toContain('Ada');

    const ids = (await runs()).map(({ runId }) => runId);
    expect(new Set(ids)).toEqual(new Set(readLastLines(home).map(({ runId }) => runId)));
    expect(ids).toHaveLength(3);
  });

  test('prints one line for each row on standard output without --out', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const { exitCode, stdout } = await runBatchCommand(['hello', '--from', 'names.csv'], {
      env,
      home,
    });

    expect(exitCode).toBe(0);

    const endedRows = parseLines(stdout).map(({ row, runStatus }) => `${row} ${runStatus}`);
    expect(endedRows.toSorted()).toEqual(['1 succeeded', '2 succeeded', '3 succeeded']);
  });

  test('--delimiter separates the columns, and --excel keeps answers from becoming formulas', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'id|name\n-1|=1+1\n2|@Bo, Di\n' });
    const flags = ['--from', 'rows.csv', '--delimiter', '|', '--excel', '--concurrency', '1'];
    const { exitCode } = await runBatchCommand(['hello', ...flags, '--out', 'r.csv'], {
      env,
      home,
    });

    expect(exitCode).toBe(0);

    const table = readFileSync(path.join(home, 'r.csv'), 'utf8').replaceAll(
      /[0-9a-f-]{36}/gu,
      'run',
    );
    expect(table).toBe(
      `\uFEFFid,name,runId,runStatus,error,output1
-1,'=1+1,run,succeeded,,"Hello, =1+1! A pleasant day to you."
2,"'@Bo, Di",run,succeeded,,"Hello, @Bo, Di! A pleasant day to you."
`,
    );

    const resumed = await runBatchCommand(['hello', ...flags, '--out', 'r.csv', '--resume'], {
      env,
      home,
    });
    expect(resumed.stderr).toContain('0 of 2 rows succeeded now, 2 before');
    expect(resumed.exitCode).toBe(0);

    const jsonl = await runBatchCommand(['hello', ...flags, '--out', 'r.jsonl'], { env, home });
    expect(jsonl.stderr).toContain('--excel needs --out');
    expect(jsonl.exitCode).toBe(EXIT.usage);
  });

  test('replays failed rows without advice to run them again', async () => {
    const home = createDirectoryWith({ 'a.csv': 'note\nAda\n' });
    const batch = ['sandbox', '--from', 'a.csv', '-o', 'outcome=failed'];
    const options = { home, local: embedded };
    const live = await runBatchCommand([...batch, '--out', 'a.jsonl', '--record', 'rec'], options);

    expect(live.stderr).toContain('--resume --retry-failed');
    expect(live.exitCode).toBe(EXIT.runFailed);

    const replayed = await runBatchCommand(
      [...batch, '--out', 'b.jsonl', '--replay', 'rec'],
      options,
    );
    expect(replayed.stderr).toContain('1 failed');
    expect(replayed.exitCode).toBe(EXIT.runFailed);
    expect(replayed.stderr).not.toContain('--retry-failed');
  });

  test('replays recorded rows, and names the nearest recording of a row that is not recorded', async () => {
    const home = createDirectoryWith({ 'a.csv': 'name\nAda\nBo\n', 'b.csv': 'name\nAda\nBoris\n' });
    const recorded = ['hello', '--from', 'a.csv', '--out', 'a.jsonl', '--record', 'rec'];
    const options = { home, local: embedded };

    expect((await runBatchCommand(recorded, options)).exitCode).toBe(0);

    const replay = [
      'hello',
      '--from',
      'b.csv',
      '--out',
      'b.jsonl',
      '--replay',
      'rec',
      '--concurrency',
      '1',
    ];
    const { exitCode, stderr } = await runBatchCommand(replay, options);

    expect(exitCode).toBe(EXIT.runFailed);
    expect(stderr).toMatch(
      /^error: b\.csv line 3 \(row 2\): this run is not recorded .*\nThe nearest is runs[/\\].*; it differs in the input "name" \("(?:Ada|Bo)" there, "Boris" here\)\.\nRecord it with --record\.$/mu,
    );
    expect(stderr).toContain('note: the rows were answered from recordings\n');
    expect(stderr).not.toMatch(/took|\$/u);
    expect(readLastLines(home, 'b.jsonl')[0]).toEqual({
      ...readLastLines(home, 'a.jsonl')[0],
      credits: null,
      cost: null,
      seconds: expect.any(Number),
    });
  });

  test('names the earlier runs of a row that was run again', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'note\na\n' });
    const args = ['sandbox', '--from', 'rows.csv', '-o', 'outcome=failed', '--out', 'r.csv'];
    await runBatchCommand(args, { env, home });

    for (let time = 0; time < 2; time += 1) {
      await runBatchCommand([...args, '--resume', '--retry-failed'], { env, home });
    }

    const [third, second, first] = (await runs()).map(({ runId }) => runId);
    const [header, row = ''] = readFileSync(path.join(home, 'r.csv'), 'utf8').split('\n');

    expect(header).toBe('note,runId,runStatus,error,output1,earlierRunIds');
    expect(row).toContain(`a,${third},failed,`);
    expect(row.endsWith(`,${first} ${second}`)).toBe(true);
  });

  test('reads rows from standard input', async () => {
    const { env } = await startServiceForTest();
    const { exitCode, stdout } = await runBatchCommand(
      ['hello', '--from', '-', '--format', 'jsonl'],
      {
        env,
        stdin: '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"}\n',
      },
    );
    expect(exitCode).toBe(0);
    expect(new Set(parseLines(stdout).map(({ id }) => id))).toEqual(new Set(['a', 'b']));
  });

  test('counts the rows of standard input that succeeded before a cap', async () => {
    const { env } = await startServiceForTest();
    const args = ['hello', '--from', '-', '--format', 'csv', '--max-credits', '1'];
    const { exitCode, stderr } = await runBatchCommand(args, { env, stdin: 'name\nAda\nBo\n' });
    expect(stderr).toContain('note: 1 row succeeded\n');
    expect(exitCode).toBe(EXIT.capReached);
  });

  test('a bad row is reported with its line, and the others run', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({
      'rows.csv': 'name,mood\n"Ada\nL",\nBo,too,much\n,\nEve,\n',
    });
    const { exitCode, stderr } = await runBatchCommand(
      ['hello', '--from', 'rows.csv', '--out', 'results.jsonl'],
      {
        env,
        home,
      },
    );

    expect(exitCode).toBe(EXIT.runFailed);
    expect(stderr).toContain(
      'error: rows.csv line 4 (row 2): 3 columns, but the header has 2 (USAGE_ERROR)',
    );
    expect(stderr).toContain('error: rows.csv line 5 (row 3): missing input: name (USAGE_ERROR)');
    expect(readLastLines(home).map(({ runStatus }) => runStatus)).toEqual([
      'succeeded',
      'failed',
      'failed',
      'succeeded',
    ]);

    expect(readLastLines(home)[1]).toMatchObject({ runId: null, outputs: [], tokens: 0 });
    expect(await runs()).toHaveLength(2);
  });

  test('--save saves outputs, and the results say where', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({
      'rows.csv': 'id,place,mood\nx,Lisbon,rainy\n',
      'm.txt': 'snowy',
    });
    const args = [
      'postcard',
      '--from',
      'rows.csv',
      '-i',
      'mood=@m.txt',
      '--save',
      'pictures',
      '--out',
      'results.jsonl',
    ];
    const { exitCode } = await runBatchCommand(args, { env, home });

    expect(exitCode).toBe(0);

    const [line] = readLastLines(home);
    const { runId, outputs } = line ?? {};

    expect(outputs?.[0]?.savedTo).toBe(`pictures/${runId}-1.png`);
    expect(new Set(readdirSync(path.join(home, 'pictures')))).toEqual(
      new Set([`${runId}-1.png`, `${runId}.json`]),
    );
  });

  test('a failed run fails its row', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.jsonl': '{"note":"a"}\n{"note":"b"}\n' });
    const { exitCode } = await runBatchCommand(
      ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'outcome=failed'],
      { env, home },
    );

    expect(exitCode).toBe(EXIT.runFailed);
    expect(readLastLines(home)).toMatchObject([{ runStatus: 'failed' }, { runStatus: 'failed' }]);
    expect(readLastLines(home)[0]?.error).toBeTruthy();
  });

  test('a row waits for a run that outlasts its creation, and the journal keeps its id', async () => {
    const serviceClock = new HandClock();
    const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
    const home = createDirectoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
    let steps: JournalStep[] = [];
    const clock = createHastyClock(async () => {
      steps = readJournalSteps(home);
      serviceClock.advance(1000);
    });
    const { exitCode } = await runBatchCommand(
      ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'delaySeconds=1'],
      { env, home, clock },
    );

    expect(exitCode).toBe(0);

    const [run] = await runs();
    expect(steps).toMatchObject([{ state: 'creating' }, { state: 'running', runId: run?.runId }]);
    expect(readResultLines(home)).toMatchObject([{ runStatus: 'succeeded', runId: run?.runId }]);
  });

  test('--shard runs each row in exactly one of the shards', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'names.csv': NAMES });
    for (const shard of ['1/2', '2/2']) {
      const args = ['hello', '--from', 'names.csv', '--shard', shard, '--out', `${shard[0]}.jsonl`];
      expect((await runBatchCommand(args, { env, home })).exitCode).toBe(0);
    }

    expect(readLastLines(home, '1.jsonl').map(({ row }) => row)).toEqual([1, 3]);
    expect(readLastLines(home, '2.jsonl').map(({ row }) => row)).toEqual([2]);
    expect(await runs()).toHaveLength(3);
  });

  test('--max-failures starts no more rows once that many have failed', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.jsonl': '{"note":"a"}\n'.repeat(9) });
    const args = [
      'sandbox',
      '--from',
      'rows.jsonl',
      '--out',
      'results.jsonl',
      '-o',
      'outcome=failed',
    ];

    const { exitCode, stderr } = await runBatchCommand(
      [...args, '--max-failures', '2', '--concurrency', '1'],
      {
        env,
        home,
      },
    );
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stderr).toContain('no more rows were started: 2 rows failed');
    expect((await runs()).length).toBeLessThanOrEqual(3);
  });

  test('--json reports how the batch ended', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'name\nAda\nBo,Eve\n' });
    const { stdout, stderr } = await runBatchCommand(
      ['hello', '--from', 'rows.csv', '--out', 'r.jsonl', '--json'],
      {
        env,
        home,
      },
    );

    expect(JSON.parse(stdout)).toMatchObject({
      rows: 2,
      succeeded: 1,
      failed: 1,
      totals: { runs: 1, credits: 1, creditsUnknown: 0, tokens: 9 },
      inDoubt: 0,
      goingOn: 0,
      notDone: 0,
    });
    expect(JSON.parse(stderr.split('\n')[0] ?? '')).toMatchObject({
      status: 'USAGE_ERROR',
      data: { row: 2, line: 3, id: '2' },
    });
  });
});

describe('--sorted', () => {
  /** Runs three rows, the second of which fails before the others are answered. */
  async function runRows(...flags: readonly string[]) {
    const home = createDirectoryWith({
      'echo.prompt': '---\nmodel: echo\ninput: { schema: { name: string } }\n---\nHello {{name}}\n',
      'rows.jsonl': '{"name":"Ada"}\n{"nmae":"Bo"}\n{"name":"Eve"}\n',
    });
    const args = ['echo.prompt', '--from', 'rows.jsonl', ...flags];
    return { home, ...(await runBatchCommand(args, { home, env: {}, local: embedded })) };
  }

  test('leaves the lines of a file in the order of the rows', async () => {
    const { home } = await runRows('--out', 'results.jsonl', '--sorted');
    expect(readResultLines(home).map(({ row }) => row)).toEqual([1, 2, 3]);
  });

  test('leaves the lines of standard output in the order of the rows', async () => {
    const unsorted = parseLines((await runRows()).stdout);
    const sorted = parseLines((await runRows('--sorted')).stdout);
    expect(unsorted[0]?.row).toBe(2);
    expect(sorted.map(({ row }) => row)).toEqual([1, 2, 3]);
  });
});

test('a file without rows is noted, and exits 0', async () => {
  const { env } = await startServiceForTest();
  const home = createDirectoryWith({ 'names.csv': 'name\n' });
  const { exitCode, stderr } = await runBatchCommand(
    ['hello', '--from', 'names.csv', '--out', 'r.jsonl'],
    {
      env,
      home,
    },
  );
  expect(stderr).toContain('note: names.csv has no rows\n');
  expect(exitCode).toBe(0);
});
