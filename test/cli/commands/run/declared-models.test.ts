import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';

/** A program that answers in capitals, logs each question, and fails for one that ends in `bad`. */
const PROGRAM_SCRIPT = `
const question = require('node:fs').readFileSync(0, 'utf8').trim();
require('node:fs').appendFileSync(LOG, question + '\\n');
if (question.endsWith('bad')) { console.error('no idea'); process.exit(3); }
console.log(JSON.stringify({ text: question.toUpperCase(), cost: 0.02, in: 100, out: 10 }));
`;

/** Creates a home directory with models.yaml, a prompt and rows; programs default to that script. */
function createMachine(...entries: object[]) {
  const home = createTemporaryDirectory();
  const script = path.join(home, 'ask.cjs');
  const log = path.join(home, 'asked.log');
  writeFileSync(script, PROGRAM_SCRIPT.replace('LOG', JSON.stringify(log)));
  const bot = { program: [process.execPath, '${here}/ask.cjs'], output: 'text' };
  const models = entries.map(entry => ({
    modality: 'text',
    ...('address' in entry ? {} : bot),
    ...entry,
  }));
  writeFileSync(path.join(home, 'models.yaml'), JSON.stringify({ models }));
  writeFileSync(
    path.join(home, 'say.prompt'),
    '---\nmodel: bot\ninput: {schema: {q: string}}\n---\nsay {{q}}\n',
  );
  writeFileSync(path.join(home, 'rows.csv'), 'q\none\ntwo\nthree\nfour\n');

  return {
    home,
    readQuestions: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    promptrun: async (...argv: string[]) => {
      const { exitCode, stdout, stderr } = await runInProcess(argv, { home, local: localService });
      return { exitCode, stdout: stdout(), stderr: stderr() };
    },
  };
}

const MODELS = ['--models', 'models.yaml'];
const RUN = ['run', 'say.prompt', '-i'];
const BATCH = ['batch', 'say.prompt', '--from', 'rows.csv', '--out', 'out.jsonl', ...MODELS];

describe('a program as a model', () => {
  it('runs, records and replays a program like any other model', async () => {
    const { promptrun, readQuestions } = createMachine({
      model: 'bot',
      cost: 'cost',
      tokens: { input: 'in', output: 'out' },
    });
    expect(await promptrun(...RUN, 'q=it', ...MODELS, '--record', 'kept')).toMatchObject({
      exitCode: 0,
      stdout: 'SAY IT\n',
    });
    expect(await promptrun(...RUN, 'q=it', ...MODELS, '--replay', 'kept')).toMatchObject({
      exitCode: 0,
      stdout: 'SAY IT\n',
    });
    expect(readQuestions()).toEqual(['say it']);

    const { stdout } = await promptrun('usage', '--by', 'model', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { key: 'bot', runs: 1, cost: 0.02, tokens: { input: 100, output: 10 }, estimated: false },
    ]);
  });

  it('runs a program of a models file only if --models names the file', async () => {
    const { promptrun } = createMachine({ model: 'bot' });
    expect(await promptrun(...RUN, 'q=it')).toMatchObject({ exitCode: EXIT.usage });
    expect(await promptrun(...RUN, 'q=it', ...MODELS)).toMatchObject({ exitCode: 0 });
  });

  it('checks a prompt of a declared model only with --models-from', async () => {
    const { promptrun } = createMachine({ model: 'bot' });
    const check = ['prompts', 'check', '--models', 'say.prompt'];
    expect(await promptrun(...check)).toMatchObject({ exitCode: EXIT.usage });
    expect(await promptrun(...check, '--models-from', 'models.yaml')).toMatchObject({
      exitCode: 0,
    });
  });

  it('refuses a models file that does not exist', async () => {
    const { promptrun } = createMachine({ model: 'bot' });
    const { exitCode, stderr } = await promptrun(...RUN, 'q=it', '--models', 'other.yaml');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain("other.yaml can't be read: it does not exist");
  });

  it.each([
    {
      problem: 'the program failed',
      model: { model: 'bot' },
      input: 'q=bad',
      expectedExitCode: EXIT.runFailed,
      message: 'bot ended with exit code 3: no idea',
    },
    {
      problem: 'the program could not be started',
      model: { model: 'bot', program: ['no-such-program-anywhere'] },
      input: 'q=it',
      expectedExitCode: EXIT.fault,
      message: "no-such-program-anywhere can't be started",
    },
    {
      problem: 'its answer lacks the declared field',
      model: { model: 'bot', output: 'nothing' },
      input: 'q=it',
      expectedExitCode: EXIT.runFailed,
      message: 'it has no `nothing`; it begins with {"text"',
    },
  ])('reports that $problem', async ({ model, input, expectedExitCode, message }) => {
    const { promptrun } = createMachine(model);
    const { exitCode, stderr } = await promptrun(...RUN, input, ...MODELS);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(expectedExitCode);
  });

  it('starts the first run of a batch alone under a cap if only answers show the cost', async () => {
    const { promptrun, readQuestions } = createMachine({ model: 'bot', cost: 'cost' });
    const first = await promptrun(...BATCH, '--max-cost', '0.05');
    expect(first.exitCode).toBe(EXIT.capReached);
    expect(readQuestions()).toEqual(['say one', 'say two']);
    expect(await promptrun(...BATCH, '--resume', '--max-cost', '1')).toMatchObject({ exitCode: 0 });
    expect(readQuestions().toSorted()).toEqual(['say four', 'say one', 'say three', 'say two']);
  });

  it('resumes an interrupted comparison without asking again', async () => {
    const { home, promptrun, readQuestions } = createMachine(
      { model: 'bot', cost: 'cost' },
      { model: 'free', price: { run: 0 } },
    );
    writeFileSync(path.join(home, 'rows.csv'), 'q\none\nbad\nthree\nfour\n');
    const compare = ['compare', 'say.prompt', '-m', 'bot,free', '--from', 'rows.csv', ...MODELS];
    const first = await promptrun(...compare, '--max-cost', '0.05');

    expect(first).toMatchObject({
      exitCode: EXIT.capReached,
      stderr: expect.stringMatching(/To continue, add --resume/) as string,
    });
    // Four rows for each of two models.
    expect(readQuestions().length).toBeLessThan(8);

    const second = await promptrun(...compare, '--resume', '--max-cost', '1');
    expect(second).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/in all: 8 runs/) as string,
    });
    expect(readQuestions().toSorted()).toEqual(
      ['bad', 'bad', 'four', 'four', 'one', 'one', 'three', 'three'].map(q => `say ${q}`),
    );
    expect(await promptrun(...compare, '--resume')).toMatchObject({
      exitCode: 0,
      stdout: second.stdout,
    });
    expect(readQuestions()).toHaveLength(8);

    await promptrun(...compare, '--resume', '--retry-failed');
    expect(readQuestions().slice(8)).toEqual(['say bad', 'say bad']);
  });

  it('counts the tokens of a judge that an earlier invocation of the test paid for', async () => {
    const tokens = { input: 'in', output: 'out' };
    const program = [
      process.execPath,
      '-e',
      "console.log(JSON.stringify({ text: 'Yes.', in: 7, out: 2 }))",
    ];
    const { home, promptrun, readQuestions } = createMachine(
      { model: 'bot', tokens },
      { model: 'mild', program, tokens },
    );
    const cases = [{ inputs: { q: 'it' }, expect: [{ rubric: 'is loud' }] }];
    writeFileSync(path.join(home, 'say.test.yaml'), JSON.stringify({ judge: 'mild', cases }));
    const test = ['test', 'say.test.yaml', ...MODELS];

    expect(await promptrun(...test)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('2 runs took 119 tokens') as string,
    });
    expect(await promptrun(...test, '--resume')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('note: in all: 2 runs took 119 tokens, ') as string,
    });
    expect(readQuestions()).toHaveLength(1);
  });

  it('judges a comparison, and with --resume asks only another judge, or one that failed', async () => {
    const judge = (model: string, script: string): object => ({
      model,
      program: [process.execPath, '-e', script],
    });

    const answers = (word: string): string => `console.log(JSON.stringify({ text: '${word}.' }))`;
    const { home, promptrun, readQuestions } = createMachine(
      { model: 'bot' },
      judge('mild', answers('Yes')),
      judge('strict', answers('No')),
      judge('broken', 'process.exit(3)'),
    );

    const rubric = 'cases: [{inputs: {q: one}, expect: {rubric: is polite}}]\n';
    writeFileSync(path.join(home, 'say.test.yaml'), rubric);

    const compare = async (...flags: string[]) => {
      const targets = ['say.prompt', 'say.prompt', '-i', 'q=one', '--expect', 'say.test.yaml'];
      const { exitCode, stdout, stderr } = await promptrun(
        'compare',
        ...targets,
        ...MODELS,
        ...flags,
      );
      const rates = /\d+ % passed|no row could be judged/u.exec(stdout)?.[0];
      return { exitCode, rates, stderr };
    };

    expect(await compare('--judge', 'mild')).toMatchObject({ exitCode: 0, rates: '100 % passed' });
    expect(await compare('--judge', 'strict', '--resume')).toMatchObject({
      exitCode: 0,
      rates: '0 % passed',
    });

    const failed = await compare('--judge', 'broken', '--resume');
    expect(failed).toMatchObject({ exitCode: EXIT.fault, rates: 'no row could be judged' });
    expect(failed.stderr).toContain('--resume --retry-unknown');

    const models = readFileSync(path.join(home, 'models.yaml'), 'utf8');
    writeFileSync(
      path.join(home, 'models.yaml'),
      models.replace('process.exit(3)', answers('Yes').replaceAll('"', '')),
    );
    const again = await compare('--judge', 'broken', '--resume', '--retry-unknown');

    expect(again).toMatchObject({ exitCode: 0, rates: '100 % passed' });
    expect(readQuestions()).toEqual(['say one', 'say one']);
  });

  it('refuses --max-cost for a program without a price, before it is started', async () => {
    const { promptrun, readQuestions } = createMachine({ model: 'bot' });
    const { exitCode, stderr } = await promptrun(...BATCH, '--max-cost', '1');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toMatch(
      /the price of the model bot is not known.*\n.*price: \{run: <dollars>\}/,
    );
    expect(readQuestions()).toEqual([]);
  });

  it('refuses --max-cost for a program without a price in a dry run too, even if its first row is faulty', async () => {
    const { promptrun, home } = createMachine({ model: 'bot' });
    writeFileSync(path.join(home, 'faulty-row.jsonl'), '{"nope":"one"}\n{"q":"two"}\n');
    const batch = [
      'batch',
      'say.prompt',
      ...MODELS,
      '--from',
      'faulty-row.jsonl',
      '--dry-run',
      '--max-cost',
      '1',
    ];
    const { exitCode, stderr } = await promptrun(...batch);

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('faulty-row.jsonl line 1 (row 1): the prompt has no input "nope"');
    expect(stderr).toContain('error: the price of the model bot is not known');
  });

  it('starts a program that reported no cost only once under --max-cost', async () => {
    const { promptrun, readQuestions } = createMachine({ model: 'bot', cost: 'price' });
    expect(await promptrun(...BATCH, '--max-cost', '1')).toMatchObject({
      exitCode: EXIT.capReached,
    });
    expect(readQuestions()).toEqual(['say one']);
  });
});

describe('an address as a model', () => {
  it('refuses an address whose headers need variables that are not set', async () => {
    const address = 'https://127.0.0.1:1/';
    const headers = { authorization: 'Bearer ${env.PROMPTRUN_TESTS_BOT_KEY}' };
    const { promptrun } = createMachine({ model: 'bot', address, headers });
    const { exitCode, stderr } = await promptrun(...RUN, 'q=it', ...MODELS);
    expect(exitCode).toBe(EXIT.unauthorised);
    expect(stderr).toMatch(/error: PROMPTRUN_TESTS_BOT_KEY is not set, which the model bot sends/);
  });

  it('refuses a variable whose value would make a second header', async () => {
    const { promptrun } = createMachine({
      model: 'bot',
      address: 'http://127.0.0.1:1/',
      headers: { q: '${input.q}' },
    });
    expect(await promptrun(...RUN, 'q=a\nx: b', ...MODELS)).toMatchObject({ exitCode: EXIT.usage });
    expect(await promptrun(...RUN, 'q=a', ...MODELS)).toMatchObject({ exitCode: EXIT.fault });
  });
});

describe('models check', () => {
  it('asks every declared program and address', async () => {
    const { promptrun } = createMachine(
      { model: 'bot', cost: 'cost' },
      { model: 'free', price: { run: 0 } },
    );
    const { exitCode, stdout } = await promptrun('models', 'check', ...MODELS);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^bot\tanswered\t[\d.]+\t0\.02\tANSWER.*\nfree\tanswered\t[\d.]+\t0\t/i);
  });

  it('asks the named models, and exits with 5 if one failed', async () => {
    const { promptrun } = createMachine(
      { model: 'bot', price: { run: 0.5 } },
      { model: 'gone', program: ['no-such-one'] },
    );
    expect(await promptrun('models', 'check', 'bot', 'gone', ...MODELS)).toMatchObject({
      exitCode: EXIT.runFailed,
    });
    expect(
      await promptrun('models', 'check', 'bot', 'echo', ...MODELS, '--max-cost', '0.1'),
    ).toMatchObject({
      exitCode: EXIT.capReached,
      stdout: expect.stringMatching(/^bot\tcapped\t.*\necho\tanswered\t/) as string,
    });
    expect(await promptrun('models', 'check', 'nope', ...MODELS)).toMatchObject({
      exitCode: EXIT.usage,
    });
  });

  it('refuses a models file without a usable model, and says why', async () => {
    const { promptrun } = createMachine({ model: 'bot', exec: 5 });
    expect(await promptrun('models', 'check', ...MODELS)).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringMatching(
        /no model to check \(CONFIG_ERROR\)\n.*`exec` is not a key/u,
      ) as string,
    });
  });
});
