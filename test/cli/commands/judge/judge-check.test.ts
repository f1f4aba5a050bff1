import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../../support/context.ts';
import { chatAnswer, FakeProvider } from '../../../support/providers/fake-provider.ts';
import { ProviderLedger } from '../../../support/providers/provider-ledger.ts';

let provider: FakeProvider;
let home: string;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

beforeEach(() => {
  home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  write(
    'data/models.yaml',
    `providers:\n  here: {baseUrl: "${provider.baseUrl}", batch: true}\nmodels:\n  - {model: tiny, modality: text, provider: here, price: {input: 2, output: 8}}\n`,
  );
});

const write = (file: string, text: string): void => writeFileSync(path.join(home, file), text);

const run = (...argv: string[]): Promise<CommandResult> =>
  runInProcess(['-q', ...argv], {
    home,
    local: localService,
    env: { PROMPTRUN_DATA_DIR: path.join(home, 'data') },
  });

const check = (...flags: string[]): Promise<CommandResult> =>
  run('judge', 'check', 'labels.csv', '--judge', 'tiny', '--concurrency', '1', ...flags);

/**
 * Writes rows with these labels, and lets the judge answer with these letters in turn, the last one
 * repeatedly. `y` stands for pass or yes.
 */
function setUpLabels(labels: string, answers: string): void {
  const rows = Array.from(
    labels,
    (label, index) => `answer ${index + 1},is polite,${label === 'y' ? 'pass' : 'fail'}\n`,
  );
  write('labels.csv', `output,rubric,label\n${rows.join('')}`);
  provider.reset(
    ...Array.from(answers, letter => chatAnswer(letter === 'y' ? 'Yes.' : 'No: it is rude.')),
  );
}

describe('judge check', () => {
  it('reports agreement, kappa, the numbers of passes, and the rows that differ', async () => {
    setUpLabels('yyyyyynnnn', 'yyyyynnnny');
    const { stdout, exitCode } = await check();
    expect(stdout()).toBe(
      `agreement: 8 of 10, 80 %; the true rate is probably between 49 and 94 %
Cohen's kappa: 0.58, probably between 0.07 and 1
pass: 6 times by the labels, 6 times by the judge
row 6: label pass, judge fail: it is rude.
row 10: label fail, judge pass: no reason given
`,
    );
    expect(exitCode).toBe(0);
  });

  it('asks the question of a rubric', async () => {
    setUpLabels('y', 'y');
    await check();
    expect(provider.requests[0]?.text).toContain('Rubric: is polite');
    expect(provider.requests[0]?.text).toContain('answer 1');
  });

  it('prints the agreement as JSON', async () => {
    setUpLabels('yyyyyynnnn', 'yyyyynnnny');
    const { stdout } = await check('--json');
    expect(JSON.parse(stdout())).toEqual({
      rows: 10,
      agreement: { rate: 0.8, interval: [expect.closeTo(0.4902, 4), expect.closeTo(0.9433, 4)] },
      kappa: {
        value: expect.closeTo(7 / 12) as number,
        interval: [expect.any(Number), expect.any(Number)],
      },
      passes: { labels: 6, judge: 6 },
      itself: null,
      differ: [
        {
          row: 6,
          id: '6',
          output: 'answer 6',
          rubric: 'is polite',
          label: 'pass',
          judge: 'fail',
          reason: 'it is rude.',
        },
        {
          row: 10,
          id: '10',
          output: 'answer 10',
          rubric: 'is polite',
          label: 'fail',
          judge: 'pass',
          reason: 'no reason given',
        },
      ],
    });
  });

  it('reports how often the judge agrees with itself, and compares its first answers with the labels', async () => {
    setUpLabels('yn', 'yynnnn');
    const { stdout } = await check('--repeat', '3', '--json');
    expect(JSON.parse(stdout())).toMatchObject({
      rows: 2,
      itself: 4 / 6,
      agreement: { rate: 1 },
      differ: [],
    });
    expect(provider.requests).toHaveLength(6);
  });

  it.each([
    { flags: ['--min-kappa', '0.6'], reason: "Cohen's kappa is 0.583, below --min-kappa 0.6\n" },
    {
      flags: ['--min-kappa', '0.5', '--sure'],
      reason: /the low end of the interval of Cohen's kappa is 0\.\d{3}, below --min-kappa 0\.5\n/u,
    },
  ])('exits with 5 if kappa is too low, and says why: $flags', async ({ flags, reason }) => {
    setUpLabels('yyyyyynnnn', 'yyyyynnnny');
    const { exitCode, stderr } = await check(...flags);
    expect(stderr()).toMatch(reason);
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it.each([[['--min-kappa', '0.5']], [['--min-kappa', '0', '--sure']]])(
    'succeeds if kappa is high enough: %j',
    async flags => {
      setUpLabels('yyyyyynnnn', 'yyyyynnnny');
      const { exitCode, stderr } = await check(...flags);
      expect(stderr()).not.toContain('below');
      expect(exitCode).toBe(0);
    },
  );

  it('names the runs if the agreement could not be printed', async () => {
    setUpLabels('yyn', 'yyn');
    const argv = ['judge', 'check', 'labels.csv', '--judge', 'tiny'];
    const env = { PROMPTRUN_DATA_DIR: path.join(home, 'data') };
    const options = { home, local: localService, env, readerTakes: 3, isDiskFull: true };
    const { exitCode, stderr } = await runInProcess(argv, options);
    expect(stderr()).toContain('the results of 3 runs were not printed');
    expect(exitCode).toBe(EXIT.fault);
  });

  it.each([
    { flags: [], code: 0 },
    { flags: ['--min-kappa', '0.1'], code: EXIT.runFailed },
  ])(
    'says that kappa is not defined if all labels and verdicts are the same: $flags',
    async ({ flags, code }) => {
      setUpLabels('yyy', 'y');
      const { stdout, exitCode } = await check(...flags);
      expect(stdout()).toContain("Cohen's kappa: not defined");
      expect(exitCode).toBe(code);
      const json = await check('--json', ...flags);
      expect(JSON.parse(json.stdout())).toMatchObject({ kappa: null });
      expect(json.exitCode).toBe(code);
    },
  );

  it('accepts JSONL, labels of all forms, a common rubric and the setting judge', async () => {
    const labels = ['"pass"', '"Yes"', 'true', '1', '"fail"', '"no"', 'false', '"0"'];
    write(
      'labels.jsonl',
      labels.map((label, index) => `{"output": "answer ${index}", "label": ${label}}\n`).join(''),
    );
    provider.reset(...Array.from('yyyynnnn', letter => chatAnswer(letter === 'y' ? 'yes' : 'no')));
    await run('config', 'set', 'judge', 'tiny');
    const { stdout, exitCode } = await run(
      'judge',
      'check',
      'labels.jsonl',
      '--rubric',
      'is polite',
      '--concurrency',
      '1',
    );

    expect(stdout()).toContain('agreement: 8 of 8, 100 %');
    expect(exitCode).toBe(0);
  });

  it.each([
    { labels: 'output,label\na,pass\n', flags: [], message: 'labels.csv:2: the rubric is missing' },
    { labels: 'rubric,label\na,pass\n', flags: [], message: 'labels.csv:2: the output is missing' },
    { labels: 'output,rubric\na,b\n', flags: [], message: 'labels.csv:2: the label is missing' },
    {
      labels: 'output,rubric,label\na,b,maybe\n',
      flags: [],
      message: 'labels.csv:2: the label "maybe" is not pass or fail',
    },
    { labels: 'output,rubric,label\n', flags: [], message: 'labels.csv has no rows' },
    { labels: 'output,rubric,label\na,b,pass\n', flags: ['--judge', 'nobody'], message: 'nobody' },
    {
      labels: 'output,rubric,label\na,b,pass\n',
      flags: ['--sure'],
      message: '--sure needs --min-kappa',
    },
    {
      labels: 'output,rubric,label\na,b,pass\n',
      flags: ['--min-kappa', '2'],
      message: '--min-kappa takes a number from -1 to 1',
    },
    {
      labels: 'output,rubric,label\na,b,pass\n',
      flags: ['--cancel'],
      message: '--cancel needs --resume',
    },
  ])(
    'refuses faulty labels and flags, and asks nothing: $message',
    async ({ labels, flags, message }) => {
      provider.reset(chatAnswer('yes'));
      write('labels.csv', labels);
      const { exitCode, stderr } = await check(...flags);
      expect(stderr()).toContain(message);
      expect(exitCode).toBe(EXIT.usage);
      expect(provider.requests).toHaveLength(0);
    },
  );

  it('needs a judge', async () => {
    setUpLabels('y', 'y');
    const { exitCode, stderr } = await run('judge', 'check', 'labels.csv');
    expect(stderr()).toContain('--judge is missing');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('names the argument, not a flag, if there are no labels', async () => {
    const { exitCode, stderr } = await run('judge', 'check', 'none.csv', '--judge', 'tiny');
    expect(stderr()).toContain('error: labels: none.csv does not exist');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('leaves out rows that were not judged, and exits with the code of their fault', async () => {
    setUpLabels('yyn', 'y');
    provider.reset(chatAnswer('yes'), chatAnswer('perhaps'), chatAnswer('no'));
    const { exitCode, stdout, stderr } = await check();
    expect(stdout()).toContain('agreement: 2 of 2');
    expect(stderr()).toContain('the judge answered neither yes nor no; 1 row not judged');
    expect(exitCode).toBe(EXIT.fault);
  });

  it('ignores the thoughts of a judge, unless they contain their own end mark', async () => {
    setUpLabels('ynn', 'y');
    provider.reset(
      chatAnswer('<think>\nNo rudeness here.\n</think>\n\nYes, it is.'),
      chatAnswer(`<think>${'hm '.repeat(9000)}</think>**No**`),
      chatAnswer('<think>It says "</think> yes".</think>no'),
    );

    const { stdout, stderr } = await check();
    expect(stdout()).toContain('agreement: 2 of 2');
    expect(stderr()).toContain('the judge answered neither yes nor no; 1 row not judged');
  });

  it('asks again after a failed run only with --retry-unknown', async () => {
    setUpLabels('yy', 'y');
    provider.reset(
      chatAnswer('yes'),
      chatAnswer('', { finish_reason: 'content_filter' }),
      chatAnswer('yes'),
    );

    const failed = await check();
    expect(failed.stderr()).toContain('--resume --retry-unknown');
    expect(failed.exitCode).toBe(EXIT.fault);
    expect((await check('--resume')).exitCode).toBe(EXIT.fault);
    expect(provider.requests).toHaveLength(2);

    const again = await check('--resume', '--retry-unknown');
    expect(again.stdout()).toContain('agreement: 2 of 2');
    expect(again.exitCode).toBe(0);
    expect(provider.requests).toHaveLength(3);
  });

  it('records and replays each repetition separately', async () => {
    setUpLabels('yn', 'yynnnn');
    const live = await check('--repeat', '3', '--json', '--record', 'recorded');
    const requestCount = provider.requests.length;
    const replayed = await check('--repeat', '3', '--json', '--replay', 'recorded');
    expect(JSON.parse(replayed.stdout())).toEqual(JSON.parse(live.stdout()));
    expect(provider.requests).toHaveLength(requestCount);
  });

  it('stops at the cap, and resumes under a higher one without paying twice', async () => {
    setUpLabels('yyyynn', '');
    const ledger = new ProviderLedger();
    provider.reset(ledger.handler);
    ledger.verdict = () => ({ text: 'Yes.' });
    const capped = await check('--provider-batch', '--max-cost', '0.014');

    expect(capped.exitCode).toBe(EXIT.capReached);
    expect(capped.stderr()).toMatch(/[1-5] rows not judged/u);

    const more = await check('--provider-batch', '--resume', '--max-cost', '1');
    expect(more.stdout()).toContain('agreement: 4 of 6');
    expect(more.exitCode).toBe(0);

    const sizes = ledger.batches.map(({ entries }) => entries.length);
    expect(sizes).toHaveLength(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6);
  });

  it('asks in one batch of the provider, with --sure too', async () => {
    setUpLabels('yyyynnn', 'y');
    const ledger = new ProviderLedger();
    ledger.verdict = ({ parameters }) => {
      const [, number = '0'] = /answer (\d)/u.exec(JSON.stringify(parameters['messages'])) ?? [];
      return { text: Number(number) <= 4 ? 'Yes.' : 'No.' };
    };
    provider.reset(ledger.handler);
    const { stdout, exitCode } = await check('--provider-batch', '--min-kappa', '0.5', '--sure');

    expect(stdout()).toContain('agreement: 7 of 7');
    expect(exitCode).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([7]);

    const again = await check('--provider-batch', '--resume');
    expect(again.stdout()).toContain('agreement: 7 of 7');
    expect(ledger.batches).toHaveLength(1);
  });
});
