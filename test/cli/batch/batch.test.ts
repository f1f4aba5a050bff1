import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import {
  type BatchResult,
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
  describe('of three names', () => {
    let result: BatchResult;
    let home: string;
    let createdRunIds: string[];

    beforeAll(async () => {
      const { env, runs } = await startServiceForTest({}, afterAll);
      home = createDirectoryWith({ 'names.csv': NAMES }, afterAll);
      result = await runBatchCommand(
        ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1'],
        { env, home },
      );
      createdRunIds = (await runs()).map(({ runId }) => runId);
    });

    test('creates one run for each row', () => {
      expect(result.exitCode).toBe(0);
      expect(createdRunIds).toHaveLength(3);
      expect(new Set(readResultLines(home).map(({ runId }) => runId))).toEqual(
        new Set(createdRunIds),
      );
    });

    test('writes a line for each row to --out, and nothing to standard output', () => {
      expect(readResultLines(home)).toMatchObject([
        { row: 1, runStatus: 'succeeded' },
        { row: 2, runStatus: 'succeeded' },
        { row: 3, runStatus: 'succeeded' },
      ]);
      expect(result.stdout).toBe('');
    });

    test('writes the fields of a line in the order that is documented', () => {
      const [line] = readResultLines(home);
      expect(line).toMatchObject({ id: '1', error: null, seconds: expect.any(Number) });
      expect(line?.outputs?.[0]?.data).toContain('Ada');
      expect(Object.keys(line ?? {})).toEqual([
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
    });

    test('leaves neither its journal nor its lock behind', () => {
      expect(readdirSync(home)).toContain('results.jsonl');
      expect(readdirSync(home)).not.toContain('results.jsonl.journal');
      expect(readdirSync(home)).not.toContain('results.jsonl.lock');
    });
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

  test('--excel keeps ids, inputs and answers from becoming formulas, and a table of them resumes', async () => {
    const { env } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'id|name\n-1|=1+1\n2|@Bo, Di\n' });
    const args = ['hello', '--from', 'rows.csv', '--delimiter', '|', '--out', 'r.csv', '--excel'];
    const { exitCode } = await runBatchCommand([...args, '--concurrency', '1'], { env, home });

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

    const resumed = await runBatchCommand([...args, '--resume'], { env, home });
    expect(resumed.stderr).toContain('0 of 2 rows succeeded now, 2 before');
    expect(resumed.exitCode).toBe(0);
  });

  test('--excel is refused for results in JSON Lines', async () => {
    const home = createDirectoryWith({ 'names.csv': NAMES });
    const args = ['hello', '--from', 'names.csv', '--excel', '--out', 'r.jsonl'];
    const { exitCode, stderr } = await runBatchCommand(args, { home, env: {}, local: embedded });
    expect(stderr).toContain('--excel needs --out');
    expect(exitCode).toBe(EXIT.usage);
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

  describe('that replays a recorded row and another', () => {
    let home: string;
    let replayed: BatchResult;

    beforeAll(async () => {
      home = createDirectoryWith(
        { 'recorded.csv': 'name\nAda\nBo\n', 'other.csv': 'name\nAda\nBoris\n' },
        afterAll,
      );
      const runBatch = (rows: string, ...flags: string[]): Promise<BatchResult> =>
        runBatchCommand(['hello', '--from', `${rows}.csv`, '--out', `${rows}.jsonl`, ...flags], {
          home,
          local: embedded,
        });
      await runBatch('recorded', '--record', 'rec');
      replayed = await runBatch('other', '--replay', 'rec', '--concurrency', '1');
    });

    test('answers the recorded row as before, without a cost', () => {
      expect(readLastLines(home, 'other.jsonl')[0]).toEqual({
        ...readLastLines(home, 'recorded.jsonl')[0],
        credits: null,
        cost: null,
        seconds: expect.any(Number),
      });
      expect(replayed.stderr).toContain('note: the rows were answered from recordings\n');
      expect(replayed.stderr).not.toMatch(/took|\$/u);
    });

    test('fails the other row and names the nearest recording', () => {
      expect(replayed.exitCode).toBe(EXIT.runFailed);
      expect(replayed.stderr).toContain(
        'error: other.csv line 3 (row 2): this run is not recorded ',
      );
      expect(replayed.stderr).toMatch(
        /^The nearest is runs[/\\].*; it differs in the input "name" \("(?:Ada|Bo)" there, "Boris" here\)\.\nRecord it with --record\.$/mu,
      );
    });
  });

  test('names the earlier runs of a row that was run again', async () => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith({ 'rows.csv': 'note\na\n' });
    const args = ['sandbox', '--from', 'rows.csv', '-o', 'outcome=failed', '--out', 'r.csv'];
    await runBatchCommand(args, { env, home });

    await runBatchCommand([...args, '--resume', '--retry-failed'], { env, home });
    await runBatchCommand([...args, '--resume', '--retry-failed'], { env, home });

    // The list of runs begins with the newest.
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

    // A third row may have started before the second failure was counted.
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
