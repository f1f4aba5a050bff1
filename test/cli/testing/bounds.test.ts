import { appendFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { runFileTask } from '../../../src/cli/testing/cases/run-file-task.ts';
import { localService } from '../../../src/main.ts';
import { SharedTasks } from '../../../src/prompts/tasks/prompt-tasks.ts';
import { startInProcess } from '../../support/context.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';

// Each of these tests waits for bounds, and for processes that a busy machine is slow to start.
vi.setConfig({ testTimeout: 120_000 });
afterAll(() => vi.resetConfig());

/** An expression that takes too long: each step doubles what came before it. */
const SLOW_EXPRESSION = `${'[@,@]|'.repeat(40)}to_string(@)`;
const EIGHT_COPIES = "join('', [@,@,@,@,@,@,@,@])";
/** An expression whose value takes too much memory. */
const LARGE_EXPRESSION = `${EIGHT_COPIES} | ${EIGHT_COPIES} | [join('-', [@,@,@]), join('+', [@,@,@]), join('*', [@,@,@])]`;
const LONG_TEXT = JSON.stringify('x'.repeat(1_000_000));

const formatCase = (name: string, expectation: object, text = '{"a":1}'): string =>
  `  - ${JSON.stringify({ name, inputs: { text }, expect: [expectation] })}\n`;

const KIB = 1024;
const MIB = 1024 * KIB;

/** Returns a JMESPath literal of this many characters, which gives a text without its two quotes. */
const createLiteral = (length: number): string => `'${'x'.repeat(length - 2)}'`;
const LONGEST_EXPRESSION = createLiteral(16 * KIB);
const TOO_LONG_EXPRESSION = createLiteral(16 * KIB + 1);

const PASSING = formatCase('passes', { contains: 'a' });

/** Matches the message of either bound: the load of the machine decides which comes first. */
const BOUND_MESSAGE = /the expression takes (longer than 2 s|more than 256 MiB of memory)/u;

describe('a JMESPath expression of a test', () => {
  it.each([
    { name: 'takes too much time', jmespath: SLOW_EXPRESSION, text: '1', message: BOUND_MESSAGE },
    {
      name: 'takes too much memory',
      jmespath: LARGE_EXPRESSION,
      text: LONG_TEXT,
      message: BOUND_MESSAGE,
    },
    {
      name: 'is too long',
      jmespath: TOO_LONG_EXPRESSION,
      text: '1',
      message: /the expression is larger than 16 KiB/u,
    },
  ])('is the fault of its case if it $name', async ({ jmespath, text, message }) => {
    const cases = [
      formatCase('fault', { jmespath }, text),
      formatCase('passes', { contains: '1' }, '1'),
    ];
    const { exitCode, stdout } = await createEchoProject(cases.join('')).run(['test']);

    expect(stdout()).toMatch(message);
    expect(stdout()).toContain('1 passed, 0 failed, 1 could not be run');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may have 16 KiB, or be evaluated on an answer of a million characters', async () => {
    const cases = [
      formatCase('long expression', { jmespath: LONGEST_EXPRESSION }),
      formatCase('large answer', { jmespath: 'length(@) == `1000000`' }, LONG_TEXT),
    ];
    const project = createEchoProject(cases.join(''));
    // A machine that is busy enough takes the bound's time for anything.
    await expect.poll(async () => (await project.run(['test'])).exitCode).toBe(0);
  });

  it('ends at Ctrl-C', async () => {
    // It must not have ended by itself, however late the signal comes.
    const project = createEchoProject(
      formatCase('slow', { jmespath: SLOW_EXPRESSION }).replace('{', '{"repeat":1000,'),
    );
    const command = startInProcess(['test'], { home: project.home, local: localService });
    await vi.waitFor(() => expect(command.stderr()).not.toBe(''), 60_000);
    command.raise('SIGINT');

    expect(await command.ended).toBe(EXIT.interrupted);
  });
});

describe('an answer that is nested too deeply', () => {
  it.each([
    { json: [] },
    { jmespath: '@' },
    { schema: true },
    { transform: 'JSON.parse(output)', contains: '[' },
  ])('fails its case by %o', async expectation => {
    const deep = '['.repeat(10_000) + ']'.repeat(10_000);
    const { exitCode, stdout } = await createEchoProject(
      formatCase('deep', expectation, deep) + PASSING,
    ).run(['test']);
    expect(stdout()).toContain('1 passed, 1 failed');
    expect(exitCode).toBe(EXIT.runFailed);
  });
});

/** Returns the part of a command's context that runs tasks on files, until the end of the test. */
function createContextUntil(signal: AbortSignal): Parameters<typeof runFileTask>[0] {
  const tasks = new SharedTasks({ isForOneUser: true });
  onTestFinished(() => tasks.close());
  return { signal, promptTasks: async () => tasks };
}

describe('the YAML of a test file', () => {
  /** Comments that make a file large enough for a separate process, at little work. */
  const COMMENT_LINE_COUNT = 2700;
  const COMMENT_LINES = `${'#'.repeat(99)}\n`.repeat(COMMENT_LINE_COUNT);
  /** The line after `cases:`, the passing case, and the comments. */
  const LINE_AFTER_COMMENTS = COMMENT_LINE_COUNT + 3;

  it('is read in a process that ends with the command if it is large', async () => {
    const text = `cases:\n${'- name: a\n'.repeat(100_000)}`;
    const stop = new AbortController();
    const reading = runFileTask(createContextUntil(stop.signal), 'readYaml', {
      text,
      file: 'a.test.yaml',
    });
    stop.abort(new Error('stopped'));

    await expect(reading).rejects.toThrow('stopped');
  });

  it('keeps the line of a misspelt key in a separate process', async () => {
    const misspelt = formatCase('misspelt', { contains: 'a', containz: 'b' });
    const project = createEchoProject(`${PASSING}${COMMENT_LINES}${misspelt}`);
    const { exitCode, stdout, stderr } = await project.run(['test']);

    expect(stdout() + stderr()).toContain(`echo.test.yaml:${LINE_AFTER_COMMENTS}`);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('keeps the line of a syntax error in a separate process', async () => {
    const project = createEchoProject(`${PASSING}${COMMENT_LINES}  - [\n`);
    const { exitCode, stdout, stderr } = await project.run(['test']);

    // The parser reports the end of the list that is missing, on the next line.
    expect(stdout() + stderr()).toContain(
      `echo.test.yaml:${LINE_AFTER_COMMENTS + 1}: this is not YAML`,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused if aliases of aliases make it too large', async () => {
    const repeatTenTimes = (alias: number): string => Array(10).fill(`*a${alias}`).join(', ');
    const lines = Array.from(
      { length: 9 },
      (_, index) => `      a${index + 1}: &a${index + 1} [${repeatTenTimes(index)}]\n`,
    );
    const cases = `  - inputs:\n     text:\n      a0: &a0 [x]\n${lines.join('')}`;
    const { exitCode, stdout, stderr } = await createEchoProject(cases).run(['test']);

    expect(exitCode).toBe(EXIT.usage);
    expect(stdout() + stderr()).toContain('with its aliases written out, this is too large');
  });
});

describe('a configuration of promptfoo', () => {
  const CONFIG = 'prompts: ["Hi {{a}}"]\nproviders: [openai:gpt-4]\ntests: file://tests.yaml\n';

  it('is converted in a process that ends with the command', async () => {
    const stop = new AbortController();
    const options = { settingNames: [], directory: '/' };
    const work = { text: CONFIG, file: 'config.yaml', options };
    const converting = runFileTask(createContextUntil(stop.signal), 'convert', work);
    stop.abort(new Error('stopped'));
    await expect(converting).rejects.toThrow('stopped');
  });

  it('keeps the line of a fault in its test file in a separate process', async () => {
    const project = new Project({ 'config.yaml': CONFIG, 'tests.yaml': '- {vars: {a: 1}}\n- [' });
    const { exitCode, stderr } = await project.run([
      'prompts',
      'new',
      'x.prompt',
      '--from',
      'config.yaml',
    ]);
    expect(stderr()).toMatch(/^error: tests\.yaml:\d: this is not YAML/u);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('--query', () => {
  const runQuery = (expression: string) =>
    new Project({}).run(['run', 'hello', '-i', 'name=Ada', '--query', expression]);

  it('may have 16 KiB', async () => {
    const { exitCode, stdout } = await runQuery(LONGEST_EXPRESSION);
    expect(stdout()).toBe(`${LONGEST_EXPRESSION.slice(1, -1)}\n`);
    expect(exitCode).toBe(0);
  });

  it('is refused if it is larger than 16 KiB', async () => {
    const { exitCode, stderr } = await runQuery(TOO_LONG_EXPRESSION);
    expect(stderr()).toContain('larger than 16 KiB');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused if a quote of 16 KiB has no end', async () => {
    const { exitCode, stdout } = await runQuery(`"${'x'.repeat(16 * KIB - 1)}`);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is stopped if it takes too much time or memory', async () => {
    const { exitCode, stderr } = await runQuery(SLOW_EXPRESSION);
    expect(stderr()).toMatch(BOUND_MESSAGE);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('a schema that leads back to itself', () => {
  const LOOP = '`$ref` leads back to itself without going deeper into the value';

  it('is the fault of its case, with its line and its path in the schema', async () => {
    const cases = [
      formatCase('in a file', { schema: 'loop.json' }),
      '  - name: here\n    inputs: { text: "1" }\n    expect:\n      - schema:\n          allOf:\n            - $ref: "#"\n',
      PASSING,
    ];
    const project = createEchoProject(cases.join(''), { 'loop.json': '{"$ref":"#"}' });
    const { exitCode, stdout } = await project.run(['test']);

    expect(stdout()).toContain(`echo.test.yaml:2: schema: loop.json: ${LOOP} (at "/$ref")`);
    expect(stdout()).toContain(`echo.test.yaml:8: schema: ${LOOP} (at "/allOf/0/$ref")`);
    expect(stdout()).toContain('1 passed, 0 failed, 2 could not');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused by --schema before anything is sent', async () => {
    const project = new Project({ 'loop.json': '{"$ref":"#"}' });
    const argv = ['run', 'hello', '-i', 'name=Ada', '--schema', 'loop.json'];
    const { exitCode, stdout, stderr } = await project.run(argv);

    expect(stdout()).toBe('');
    expect(stderr()).toContain(`--schema: loop.json: ${LOOP} (at "/$ref")`);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused by the check of a prompt file', async () => {
    const project = new Project({
      'a.prompt': ECHO.replace(
        '---\n{{',
        'output:\n  schema:\n    type: object\n    anyOf:\n      - $ref: "#"\n---\n{{',
      ),
    });
    const { exitCode, stdout } = await project.run(['prompts', 'check', 'a.prompt']);
    expect(stdout()).toContain(`a.prompt:10:15: fault: ${LOOP}`);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('the files that the inputs of a test file name', () => {
  const createFiles = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`files/${index}.txt`, String(index)]),
    );

  const formatFileCases = (count: number): string =>
    Array.from({ length: count }, (_, index) =>
      formatCase(`c${index}`, { seconds: 1000 }, `@files/${index}.txt`),
    ).join('');

  it('are at most 1,000: the case that names one more is a fault', async () => {
    const project = createEchoProject(formatFileCases(1001), createFiles(1001));
    const { exitCode, stdout } = await project.run(['test', '--filter', 'c1000']);
    expect(stdout()).toContain(':1002: files/1000.txt is one file too many: a file may name 1,000');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may be 1,000, and any of them again', async () => {
    const project = createEchoProject(
      formatFileCases(1000) + formatCase('again', { seconds: 1000 }, '@files/0.txt'),
      createFiles(1000),
    );
    const { exitCode, stdout } = await project.run(['test', '--filter', 'again']);
    expect(stdout()).toContain('1 passed');
    expect(exitCode).toBe(0);
  });

  it('have at most 64 MiB in all', async () => {
    const project = createEchoProject(formatFileCases(5), createFiles(5));
    for (const index of [0, 1, 2, 3]) {
      truncateSync(path.join(project.home, `files/${index}.txt`), 16 * MIB);
    }

    // The fifth file has one character, which is one too many until it is emptied.
    const { exitCode, stdout } = await project.run(['test', '--filter', 'c4']);
    expect(stdout()).toContain('may have 64 MiB in all');
    expect(exitCode).toBe(EXIT.usage);

    truncateSync(path.join(project.home, 'files/4.txt'), 0);
    expect((await project.run(['test', '--filter', 'c4'])).exitCode).toBe(0);
  });
});

describe('a file beyond its bound', () => {
  it('is a fault of that file alone if it is a test file of more than 8 MiB', async () => {
    const project = createEchoProject(PASSING, { 'large.test.yaml': 'target: ./echo.prompt\n' });
    truncateSync(path.join(project.home, 'large.test.yaml'), 8 * MIB + 1);
    const { exitCode, stdout } = await project.run(['test']);

    expect(stdout()).toContain('large.test.yaml is larger than 8 MiB');
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).toContain('1 passed');
  });

  it('is a usage error if it is a recording of more than 64 MiB', async () => {
    const project = createEchoProject(PASSING);
    expect((await project.run(['test', '--record', 'recorded'])).exitCode).toBe(0);

    const runs = path.join(project.home, 'recorded/runs');
    const [recording = ''] = readdirSync(runs);
    const file = path.join(runs, recording);
    appendFileSync(file, Buffer.alloc(64 * MIB - statSync(file).size, ' '));

    expect((await project.run(['test', '--replay', 'recorded'])).exitCode).toBe(0);

    appendFileSync(file, ' ');
    const { exitCode, stdout, stderr } = await project.run(['test', '--replay', 'recorded']);

    expect(stdout() + stderr()).toContain('larger than 64 MiB');
    expect(exitCode).toBe(EXIT.usage);
  });
});
