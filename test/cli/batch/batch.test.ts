import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localService as embedded } from '../../../src/main.ts';
import {
  type JournalStep,
  journalSteps,
  lastLines,
  parseLines,
  resultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { directoryWith, runInProcess } from '../../support/context.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { Project } from '../../support/project.ts';
import { type ServiceForTest, startServiceForTest } from '../../support/service-for-test.ts';
import { isPosix } from '../../support/system.ts';

const NAMES = 'name\nAda\nBo\nEve\n';

describe('a batch on the local service', () => {
  test('runs each row once and writes its result', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'names.csv': NAMES });
    const { exitCode, stdout } = await runBatchCommand(
      ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1'],
      { env, home },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    const lines = resultLines(home);
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
    expect(new Set(ids)).toEqual(new Set(lastLines(home).map(({ runId }) => runId)));
    expect(ids).toHaveLength(3);
  });

  test('prints only the last lines on standard output if there is no file', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'names.csv': NAMES });
    const { exitCode, stdout } = await runBatchCommand(['hello', '--from', 'names.csv'], { env, home });
    expect(exitCode).toBe(0);
    const ends = parseLines(stdout).map(({ row, runStatus }) => `${row} ${runStatus}`);
    expect(ends.toSorted()).toEqual(['1 succeeded', '2 succeeded', '3 succeeded']);
  });

  test('--delimiter says how rows are separated; --excel makes no formula of what came', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'id|name\n-1|=1+1\n2|@Bo, Di\n' });
    const flags = ['--from', 'rows.csv', '--delimiter', '|', '--excel', '--concurrency', '1'];
    const { exitCode } = await runBatchCommand(['hello', ...flags, '--out', 'r.csv'], { env, home });
    expect(exitCode).toBe(0);
    const table = readFileSync(path.join(home, 'r.csv'), 'utf8').replaceAll(/[0-9a-f-]{36}/gu, 'run');
    expect(table).toBe(
      `\uFEFFid,name,runId,runStatus,error,output1
-1,'=1+1,run,succeeded,,"Hello, =1+1! A pleasant day to you."
2,"'@Bo, Di",run,succeeded,,"Hello, @Bo, Di! A pleasant day to you."
`,
    );
    const again = await runBatchCommand(['hello', ...flags, '--out', 'r.csv', '--resume'], { env, home });
    expect([again.exitCode, again.stderr]).toEqual([
      0,
      expect.stringContaining('0 of 2 rows succeeded now, 2 before'),
    ]);
    const jsonl = await runBatchCommand(['hello', ...flags, '--out', 'r.jsonl'], { env, home });
    expect([jsonl.exitCode, jsonl.stderr]).toEqual([2, expect.stringContaining('--excel needs --out')]);
  });

  test('replays rows that failed without advice to run them again, which would give the same answers', async () => {
    const home = directoryWith({ 'a.csv': 'note\nAda\n' });
    const batch = ['sandbox', '--from', 'a.csv', '-o', 'outcome=failed'];
    const options = { home, local: embedded };
    const live = await runBatchCommand([...batch, '--out', 'a.jsonl', '--record', 'rec'], options);
    expect([live.exitCode, live.stderr]).toEqual([5, expect.stringContaining('--resume --retry-failed')]);
    const replayed = await runBatchCommand([...batch, '--out', 'b.jsonl', '--replay', 'rec'], options);
    expect([replayed.exitCode, replayed.stderr]).toEqual([5, expect.stringContaining('1 failed')]);
    expect(replayed.stderr).not.toContain('--retry-failed');
  });

  test('replays recorded rows; for another row it names the nearest, the difference and the remedy', async () => {
    const home = directoryWith({ 'a.csv': 'name\nAda\nBo\n', 'b.csv': 'name\nAda\nBoris\n' });
    const recorded = ['hello', '--from', 'a.csv', '--out', 'a.jsonl', '--record', 'rec'];
    const options = { home, local: embedded };
    expect((await runBatchCommand(recorded, options)).exitCode).toBe(0);
    const replay = ['hello', '--from', 'b.csv', '--out', 'b.jsonl', '--replay', 'rec', '--concurrency', '1'];
    const { exitCode, stderr } = await runBatchCommand(replay, options);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(
      /^error: b\.csv line 3 \(row 2\): this run is not recorded .*\nThe nearest is runs[/\\].*; it differs in the input "name" \("(?:Ada|Bo)" there, "Boris" here\)\.\nRecord it with --record\.$/mu,
    );
    expect(stderr).toContain('note: the rows were answered from recordings\n');
    expect(stderr).not.toMatch(/took|\$/u);
    expect(lastLines(home, 'b.jsonl')[0]).toEqual({
      ...lastLines(home, 'a.jsonl')[0],
      credits: null,
      cost: null,
      seconds: expect.any(Number),
    });
  });

  test('names the earlier runs of rows that were run again, in a table as well', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'note\na\n' });
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
    const { exitCode, stdout } = await runBatchCommand(['hello', '--from', '-', '--format', 'jsonl'], {
      env,
      stdin: '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"}\n',
    });
    expect(exitCode).toBe(0);
    expect(new Set(parseLines(stdout).map(({ id }) => id))).toEqual(new Set(['a', 'b']));
  });

  test('counts the rows of standard input that succeeded before a cap', async () => {
    const { env } = await startServiceForTest();
    const args = ['hello', '--from', '-', '--format', 'csv', '--max-credits', '1'];
    const { exitCode, stderr } = await runBatchCommand(args, { env, stdin: 'name\nAda\nBo\n' });
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining('note: 1 row succeeded\n')]);
  });

  test('a bad row is reported with its line, and the others run', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'name,mood\n"Ada\nL",\nBo,too,much\n,\nEve,\n' });
    const { exitCode, stderr } = await runBatchCommand(
      ['hello', '--from', 'rows.csv', '--out', 'results.jsonl'],
      {
        env,
        home,
      },
    );
    expect(exitCode).toBe(5);
    expect(stderr).toContain('error: rows.csv line 4 (row 2): 3 columns, but the header has 2 (USAGE_ERROR)');
    expect(stderr).toContain('error: rows.csv line 5 (row 3): missing input: name (USAGE_ERROR)');
    expect(lastLines(home).map(({ runStatus }) => runStatus)).toEqual([
      'succeeded',
      'failed',
      'failed',
      'succeeded',
    ]);
    expect(lastLines(home)[1]).toMatchObject({ runId: null, outputs: [], tokens: 0 });
    expect(await runs()).toHaveLength(2);
  });

  test('--save saves outputs, and the results say where', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'id,place,mood\nx,Lisbon,rainy\n', 'm.txt': 'snowy' });
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
    const [line] = lastLines(home);
    const { runId, outputs } = line ?? {};
    expect(outputs?.[0]?.savedTo).toBe(`pictures/${runId}-1.png`);
    expect(new Set(readdirSync(path.join(home, 'pictures')))).toEqual(
      new Set([`${runId}-1.png`, `${runId}.json`]),
    );
  });

  test('a failed run fails its row', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'rows.jsonl': '{"note":"a"}\n{"note":"b"}\n' });
    const { exitCode } = await runBatchCommand(
      ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'outcome=failed'],
      { env, home },
    );
    expect(exitCode).toBe(5);
    expect(lastLines(home)).toMatchObject([{ runStatus: 'failed' }, { runStatus: 'failed' }]);
    expect(lastLines(home)[0]?.error).toBeTruthy();
  });

  test('a row waits for a run that takes longer than its creation; meanwhile the journal keeps its id', async () => {
    const serviceClock = new HandClock();
    const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
    const home = directoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
    let steps: JournalStep[] = [];
    const clock = hastyClock(async () => {
      steps = journalSteps(home);
      serviceClock.advance(1000);
    });
    const { exitCode } = await runBatchCommand(
      ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'delaySeconds=1'],
      { env, home, clock },
    );
    expect(exitCode).toBe(0);
    const [run] = await runs();
    expect(steps).toMatchObject([{ state: 'creating' }, { state: 'running', runId: run?.runId }]);
    expect(resultLines(home)).toMatchObject([{ runStatus: 'succeeded', runId: run?.runId }]);
  });

  test('only the rows of the shard are run, and each is in one', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'names.csv': NAMES });
    for (const shard of ['1/2', '2/2']) {
      const args = ['hello', '--from', 'names.csv', '--shard', shard, '--out', `${shard[0]}.jsonl`];
      expect((await runBatchCommand(args, { env, home })).exitCode).toBe(0);
    }
    expect(lastLines(home, '1.jsonl').map(({ row }) => row)).toEqual([1, 3]);
    expect(lastLines(home, '2.jsonl').map(({ row }) => row)).toEqual([2]);
    expect(await runs()).toHaveLength(3);
  });

  test('--max-failures starts no more rows once that many have failed', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'rows.jsonl': '{"note":"a"}\n'.repeat(9) });
    const args = ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'outcome=failed'];
    const { exitCode, stderr } = await runBatchCommand(
      [...args, '--max-failures', '2', '--concurrency', '1'],
      {
        env,
        home,
      },
    );
    expect(exitCode).toBe(5);
    expect(stderr).toContain('no more rows were started: 2 rows failed');
    expect((await runs()).length).toBeLessThanOrEqual(3);
  });

  test('--json reports how the batch ended', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'name\nAda\nBo,Eve\n' });
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

const REMARKED = {
  'rows.csv': 'name,remark,image\nAda,friend,a.png\nBo,,\n',
  'echo.prompt': '---\nmodel: echo\ninput: { schema: { name: string } }\n---\nHello {{name}}\n',
};

test.each([['remark,image'], ['*']])('--ignore-columns %s leaves columns out', async columns => {
  const home = directoryWith(REMARKED);
  const { exitCode, stderr } = await runBatchCommand(
    ['echo.prompt', '--from', 'rows.csv', '--out', 'results.jsonl', '--sorted', '--ignore-columns', columns],
    { home, env: {}, local: embedded },
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(resultLines(home).map(({ outputs }) => outputs?.[0]?.data)).toEqual(['Hello Ada', 'Hello Bo']);
});

test('-m runs every row with another model than the prompt names', async () => {
  const home = directoryWith(REMARKED);
  const flags = ['--out', 'results.jsonl', '--ignore-columns', '*', '-m', 'card'];
  const { exitCode } = await runBatchCommand(['echo.prompt', '--from', 'rows.csv', ...flags], {
    home,
    env: {},
    local: embedded,
  });
  expect(exitCode).toBe(0);
  expect(resultLines(home).map(({ outputs }) => outputs?.[0]?.type)).toEqual(['image', 'image']);
});

test.each([
  ['a run', ['--out', 'results.jsonl']],
  ['a dry run', ['--dry-run']],
])(
  '%s refuses a column that the prompt has no input for once, before anything is created',
  async (_, flags) => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'nam\nAda\nBo\n' });
    const args = ['hello', '--from', 'rows.csv', ...flags];
    const { exitCode, stderr } = await runBatchCommand(args, { env, home });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('rows.csv: the prompt has no input for the column "nam"; did you mean name?');
    expect(stderr.match(/error:/gu)).toHaveLength(1);
    expect(await runs()).toEqual([]);
  },
);

test('a header with another separator names both ways to continue, as a shell takes them', async () => {
  const { env } = await startServiceForTest();
  const home = directoryWith({ 'rows.csv': 'id|name\n1|Ada\n' });
  const args = ['hello', '--from', 'rows.csv', '--dry-run'];
  const { exitCode, stderr } = await runBatchCommand(args, { env, home });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /--ignore-columns (['"])id\|name\1\.\nIf \| separates the columns, add --delimiter (['"])\|\2\.$/mu,
  );
});

test.each([
  ['a column without an input', 'nam\nAda\n'],
  ['a column that is named twice', 'name,name\nAda,Bo\n'],
])('%s on standard input leaves no file behind', async (_, stdin) => {
  const home = directoryWith({});
  const args = ['hello', '--from', '-', '--format', 'csv', '--out', 'results.jsonl'];
  const { exitCode } = await runBatchCommand(args, { env: {}, home, local: embedded, stdin });
  expect([exitCode, readdirSync(home).filter(name => name.startsWith('results'))]).toEqual([2, []]);
});

test('--provider-batch with an offline model leaves no file behind', async () => {
  const project = new Project({ 'rows.csv': 'name\nAda\n' });
  const batch = ['batch', 'hello', '--from', 'rows.csv', '--out', 'r.jsonl'];
  const { exitCode } = await project.run([...batch, '--provider-batch']);
  expect([exitCode, readdirSync(project.home).filter(name => name.startsWith('r.'))]).toEqual([2, []]);
  expect((await project.run(batch)).exitCode).toBe(0);
});

describe('--dry-run', () => {
  test('checks every row, creates nothing and needs no file', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({ 'rows.csv': 'name,image\nAda,no.png\nBo,none.png\n' });
    const { exitCode, stderr } = await runBatchCommand(['hello', '--from', 'rows.csv', '--dry-run'], {
      env,
      home,
      terminal: { stdout: true },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('rows.csv line 2 (row 1): image: no.png does not exist');
    expect(stderr).toContain('2 rows checked, 2 invalid');
    expect(await runs()).toEqual([]);
  });

  test('opens the images of each row', async () => {
    const { env, runs } = await startServiceForTest();
    const home = directoryWith({
      'rows/rows.csv': 'image\nno.png\nnotes.txt\n../secret.png\n/dev/zero\n',
      'rows/notes.txt': 'no picture',
      'secret.png': 'a secret',
    });
    const { exitCode, stderr } = await runBatchCommand(['describe', '--from', 'rows/rows.csv', '--dry-run'], {
      env,
      home,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('line 4 (row 3): ../secret.png lies outside the folder');
    expect(stderr).toContain('line 5 (row 4): /dev/zero lies outside the folder');
    expect(stderr).toContain('line 2 (row 1): image: no.png does not exist');
    expect(stderr).toContain('line 3 (row 2): image notes.txt is not an image');
    expect(await runs()).toEqual([]);
  });

  test('finds what the embedded service would refuse', async () => {
    const head = 'model: echo\ninput: {schema: {type: object, properties: {n: {type: integer, minimum: 3}}}}';
    const project = new Project({
      'n.prompt': `---\n${head}\n---\n{{n}}`,
      'rows.csv': 'n\n5\n1\nfive\n',
    });
    const refused = await project.run(['batch', 'n.prompt', '--from', 'rows.csv', '--dry-run']);
    expect([refused.exitCode, refused.stderr()]).toEqual([
      2,
      expect.stringMatching(
        /line 3 \(row 2\): the input n .*>= 3[^]*row 3\): the input n must be a whole number/u,
      ),
    ]);
  });

  test('exits 0 if nothing is wrong', async () => {
    const { env } = await startServiceForTest();
    const home = directoryWith({ 'names.csv': NAMES });
    const { exitCode } = await runBatchCommand(['hello', '--from', 'names.csv', '--dry-run'], { env, home });
    expect(exitCode).toBe(0);
    expect(existsSync(path.join(home, 'results.jsonl'))).toBe(false);
  });
});

describe('usage errors', () => {
  let service: ServiceForTest;
  beforeAll(async () => {
    service = await startServiceForTest({}, afterAll);
  });

  test.each([
    [['--from', 'names.csv'], '--out is missing'],
    [['--from', 'none.csv', '--out', 'r.jsonl'], 'none.csv does not exist'],
    [['--from', 'names.txt', '--out', 'r.jsonl'], 'does not show its format'],
    [['--from', 'names.xlsx', '--out', 'r.jsonl'], 'names.xlsx is a spreadsheet'],
    [['--from', 'names.json', '--out', 'r.jsonl'], 'If each line is a JSON object, add --format jsonl'],
    [['--from', '-', '--out', 'r.jsonl'], '--from - needs --format'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--shard', '0/2'], '--shard needs i/n'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--shard', '3/2'], '--shard needs i/n'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--max-failures', '0'], '--max-failures needs'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--concurrency', '0'], 'concurrency'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--retry-failed'], 'needs --resume'],
    [['--from', 'names.csv', '--resume'], '--resume needs --out'],
    [['--from', 'names.csv', '--out', 'old.jsonl'], 'old.jsonl already exists'],
    [['--from', 'names.csv', '--out', 'begun.jsonl'], 'begun.jsonl.journal already exists'],
    ...(process.platform === 'linux'
      ? ([
          [['--from', 'names.csv', '--out', '/proc/version', '--resume'], "files can't be created in /proc"],
        ] as [string[], string][])
      : []),
    [['--from', 'names.csv', '--out', 'no/such/r.jsonl'], 'no such directory'],
    [['--from', 'names.csv', '--out', 'r.xlsx'], 'JSONL or CSV, not as .xlsx'],
    ...(isPosix
      ? ([
          [
            ['--from', 'names.csv', '--out', '/dev/null', '--resume'],
            '--resume needs --out with the results file',
          ],
        ] as [string[], string][])
      : []),
    [['--from', 'names.csv', '--out', '.'], '--out: . is a directory'],
    [['--from', 'names.csv', '--out', '.', '--resume'], '--out: . is a directory'],
    [['--from', 'names.csv', '--out', 'old.jsonl/r.jsonl', '--resume'], 'old.jsonl is not a directory'],
    [['--from', 'names.csv', '--out', 'r.jsonl', '--save', 'old.jsonl'], '--save: '],
    [
      ['--from', 'names.csv', '--out', 'r.jsonl', '--max-cost', '1'],
      '--max-cost works only on the embedded service',
    ],
    [['--from', 'twice.csv', '--out', 'r.jsonl'], 'twice.csv: the header names the column "name" twice'],
    [
      ['--from', '-', '--format', 'csv', '--out', 'r.jsonl', '-i', 'name=@-'],
      'standard input can be read only once',
    ],
  ])('%j is refused, exit 2, and leaves no file', async (args, message) => {
    const { env, runs } = service;
    const home = directoryWith({
      'names.csv': NAMES,
      'names.txt': NAMES,
      'names.xlsx': 'PK',
      'names.json': '[]',
      'old.jsonl': '',
      'begun.jsonl.journal': '',
      'twice.csv': 'name,name\na,b\n',
    });
    const { exitCode, stderr } = await runBatchCommand(['hello', ...args], {
      env,
      home,
      terminal: { stdout: true },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(path.join(home, 'r.jsonl'))).toBe(false);
    expect(await runs()).toEqual([]);
  });

  test('--max-cost is refused on another service before that is asked for anything', async () => {
    const home = directoryWith({ 'names.csv': NAMES });
    const env = { PROMPTRUN_BASE_URL: 'http://127.0.0.1:1/v1', PROMPTRUN_API_KEY: 'a-key' };
    for (const command of [
      ['run', 'hello', '-i', 'name=Ada'],
      ['batch', 'hello', '--from', 'names.csv', '--dry-run'],
    ]) {
      const { exitCode, stderr } = await runInProcess([...command, '--max-cost', '1'], { home, env });
      expect([exitCode, stderr()]).toEqual([2, expect.stringContaining('--max-credits')]);
    }
  });

  test('a target that does not exist is reported before any row runs', async () => {
    const { env } = service;
    const home = directoryWith({ 'names.csv': NAMES });
    const { exitCode } = await runBatchCommand(['nobody', '--from', 'names.csv', '--out', 'r.jsonl'], {
      env,
      home,
    });
    expect(exitCode).toBe(4);
  });

  test('a run option that no model lists is refused once for all rows', async () => {
    const { env, runs } = service;
    const home = directoryWith({ 'names.csv': NAMES });
    const args = ['hello', '--from', 'names.csv', '--out', 'r.jsonl', '-o', 'sped=high'];
    const { exitCode } = await runBatchCommand(args, { env, home });
    expect(exitCode).toBe(2);
    expect(await runs()).toEqual([]);
  });
});

test.each([
  { from: 'a file', flags: ['--out', 'results.jsonl'] },
  { from: 'standard output', flags: [] },
])('--sorted leaves the lines of $from in the order of the rows', async ({ flags }) => {
  const home = directoryWith({
    ...REMARKED,
    'rows.jsonl': '{"name":"Ada"}\n{"nmae":"Bo"}\n{"name":"Eve"}\n',
  });
  const command = ['echo.prompt', '--from', 'rows.jsonl', ...flags];
  const rowsOfLines = async (...more: string[]): Promise<readonly (number | undefined)[]> => {
    const { stdout } = await runBatchCommand([...command, ...more], { home, env: {}, local: embedded });
    return (flags[1] === 'results.jsonl' ? resultLines(home) : parseLines(stdout)).map(({ row }) => row);
  };
  if (flags.length === 0) expect((await rowsOfLines())[0]).toBe(2);
  expect(await rowsOfLines('--sorted')).toEqual([1, 2, 3]);
});

test('a file without rows is a success that says so', async () => {
  const { env } = await startServiceForTest();
  const home = directoryWith({ 'names.csv': 'name\n' });
  const { exitCode, stderr } = await runBatchCommand(['hello', '--from', 'names.csv', '--out', 'r.jsonl'], {
    env,
    home,
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('note: names.csv has no rows\n')]);
});

describe.runIf(isPosix)('a device or a pipe that --out names', () => {
  const BATCH = ['hello', '--from', 'names.csv', '--concurrency', '1', '--out'];
  let env: ServiceForTest['env'];
  beforeAll(async () => {
    ({ env } = await startServiceForTest({}, afterAll));
  });

  function homeWithPipe(): string {
    const home = directoryWith({ 'names.csv': NAMES });
    execFileSync('mkfifo', [path.join(home, 'pipe')]);
    symlinkSync('pipe', path.join(home, 'link.jsonl'));
    symlinkSync('pipe', path.join(home, 'link.csv'));
    return home;
  }

  test.each(['pipe', 'link.jsonl'])('gets the lines: %s', async name => {
    const home = homeWithPipe();
    const read = readFile(path.join(home, 'pipe'), 'utf8');
    const { exitCode, stdout, stderr } = await runBatchCommand([...BATCH, name, '--json'], { env, home });
    expect(exitCode).toBe(0);
    expect(parseLines(await read).map(({ row, runStatus }) => [row, runStatus])).toEqual([
      [1, 'succeeded'],
      [2, 'succeeded'],
      [3, 'succeeded'],
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 3, succeeded: 3 });
    expect(stderr).toContain("the batch's journal is ");
    expect(readdirSync(home).filter(file => file.startsWith(name))).toEqual([name]);
  });

  test('gets a table behind a name that ends in .csv', async () => {
    const home = homeWithPipe();
    const read = readFile(path.join(home, 'pipe'), 'utf8');
    expect((await runBatchCommand([...BATCH, 'link.csv'], { env, home })).exitCode).toBe(0);
    const [header, ...rows] = (await read).trimEnd().split('\n');
    expect(header).toBe('name,runId,runStatus,error,output1');
    expect(rows.map(row => row.split(',')[0])).toEqual(['Ada', 'Bo', 'Eve']);
  });

  test.each(['/dev/stdout', '-'])(
    'may be standard output as %s, even a terminal, on which control characters are escaped',
    async out => {
      const home = directoryWith({ 'names.csv': 'name\nA\u009b31m\u202e\n' });
      const { exitCode, stdout } = await runBatchCommand([...BATCH, out], {
        env,
        home,
        terminal: { stdout: true },
      });
      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(/[\u009b\u202e]/u);
      expect(parseLines(stdout)[0]?.outputs?.[0]?.data).toContain('A\u009b31m\u202e');
      expect(existsSync(path.join(home, '-'))).toBe(false);
    },
  );

  test('ends the batch once its reader has closed it', async () => {
    const home = directoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(50)}` });
    const pipe = path.join(home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const batch = runBatchCommand([...BATCH, 'pipe'], { env, home });
    const reader = await open(pipe);
    await reader.read();
    await reader.close();
    const { exitCode, stderr } = await batch;
    expect(exitCode).toBe(1);
    expect(stderr).toContain('pipe was closed before every result was written');
    expect(stderr).toContain('The journal names the runs that were made: ');
  });

  test('names the run whose result standard output does not take', async () => {
    const home = directoryWith({ 'names.csv': NAMES });
    const options = { env, home, readerTakes: 0, isDiskFull: true };
    const { exitCode, stderr } = await runBatchCommand(BATCH.slice(0, -1), options);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: the result of run [\da-f-]{36} was not printed: .*ENOSPC/mu);
    expect(stderr).toContain('The journal of the batch names those that were made.');
  });

  test.runIf(process.platform === 'linux')(
    'ends the batch if it is full, without a hint to resume',
    async () => {
      const home = directoryWith({ 'names.csv': NAMES });
      const { exitCode, stderr } = await runBatchCommand([...BATCH, '/dev/full'], { env, home });
      expect(exitCode).toBe(1);
      expect(stderr).toContain("/dev/full can't be written");
      expect(stderr).not.toContain('--resume');
    },
  );
});
