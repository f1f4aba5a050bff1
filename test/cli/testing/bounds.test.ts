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

const PASSING = formatCase('passes', { contains: 'a' });

/** Matches the message of either bound: the load of the machine decides which comes first. */
const BOUND_MESSAGE = /the expression takes (longer than 2 s|more than 256 MiB of memory)/u;

describe('a JMESPath expression of a test', () => {
  it.each([
    ['takes too much time', SLOW_EXPRESSION, '1', BOUND_MESSAGE],
    ['takes too much memory', LARGE_EXPRESSION, LONG_TEXT, BOUND_MESSAGE],
    ['is too long', `'${'x'.repeat(16 * 1024 - 1)}'`, '1', /the expression is larger than 16 KiB/u],
  ])('is the fault of its case if it %s', async (_, jmespath, text, message) => {
    const cases = [
      formatCase('fault', { jmespath }, text),
      formatCase('passes', { contains: '1' }, '1'),
    ];
    const { exitCode, stdout } = await createEchoProject(cases.join('')).run(['test']);

    expect(stdout()).toMatch(message);
    expect(stdout()).toContain('1 passed, 0 failed, 1 could not be run');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may have 16 KiB, and be evaluated on a large answer', async () => {
    const cases = [
      formatCase('long', { jmespath: `'${'x'.repeat(16 * 1024 - 2)}'` }),
      formatCase('of much', { jmespath: 'length(@) == `1000000`' }, LONG_TEXT),
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
  it('is read in a separate process if it is large, which ends with the command', async () => {
    const text = `cases:\n${'- name: a\n'.repeat(100_000)}`;
    const stop = new AbortController();
    const reading = runFileTask(createContextUntil(stop.signal), 'readYaml', {
      text,
      file: 'a.test.yaml',
    });
    stop.abort(new Error('stopped'));

    await expect(reading).rejects.toThrow('stopped');
  });

  it('keeps the lines of its faults in a separate process', async () => {
    // Lines of comments make it large at little work.
    const lines = `${'#'.repeat(99)}\n`.repeat(2700);
    const strange = formatCase('strange', { contains: 'a', containz: 'b' });
    const { exitCode, stdout, stderr } = await createEchoProject(
      `${PASSING}${lines}${strange}`,
    ).run(['test']);

    expect(stdout() + stderr()).toContain('echo.test.yaml:2703');
    expect(exitCode).toBe(EXIT.usage);

    const broken = await createEchoProject(`${PASSING}${lines}  - [\n`).run(['test']);
    expect(broken.exitCode).toBe(EXIT.usage);
    expect(broken.stdout() + broken.stderr()).toMatch(/echo\.test\.yaml:270\d: this is not YAML/u);
  });

  it('is refused if aliases of aliases make it too large', async () => {
    const ten = (alias: number): string => Array(10).fill(`*a${alias}`).join(', ');
    const lines = Array.from(
      { length: 9 },
      (_, index) => `      a${index + 1}: &a${index + 1} [${ten(index)}]\n`,
    );
    const cases = `  - inputs:\n     text:\n      a0: &a0 [x]\n${lines.join('')}`;
    const { exitCode, stdout, stderr } = await createEchoProject(cases).run(['test']);

    expect(exitCode).toBe(EXIT.usage);
    expect(stdout() + stderr()).toContain('with its aliases written out, this is too large');
  });
});

describe('a configuration of promptfoo', () => {
  const CONFIG = 'prompts: ["Hi {{a}}"]\nproviders: [openai:gpt-4]\ntests: file://tests.yaml\n';

  it('is converted in a separate process, which ends with the command', async () => {
    const stop = new AbortController();
    const options = { settingNames: [], directory: '/' };
    const work = { text: CONFIG, file: 'config.yaml', options };
    const converting = runFileTask(createContextUntil(stop.signal), 'convert', work);
    stop.abort(new Error('stopped'));
    await expect(converting).rejects.toThrow('stopped');
  });

  it('keeps its faults and their lines in a separate process', async () => {
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
  it('has the bounds of an expression in a test', async () => {
    const project = new Project({});
    const query = (expression: string) =>
      project.run(['run', 'hello', '-i', 'name=Ada', '--query', expression]);
    const long = await query(`'${'x'.repeat(16 * 1024 - 1)}'`);

    expect(long.stderr()).toContain('larger than 16 KiB');
    expect(long.exitCode).toBe(EXIT.usage);

    const open = await query(`"${'x'.repeat(16 * 1024 - 1)}`);
    expect(open.stdout()).toBe('');
    expect(open.exitCode).toBe(EXIT.usage);

    const slow = await query(SLOW_EXPRESSION);
    expect(slow.stderr()).toMatch(/takes (longer than 2 s|more than 256 MiB of memory)/u);
    expect(slow.exitCode).toBe(EXIT.usage);

    const longest = await query(`'${'x'.repeat(16 * 1024 - 2)}'`);
    expect(longest.stdout().length).toBe(16 * 1024 - 1);
    expect(longest.exitCode).toBe(0);
  });
});

describe('a schema that leads back to itself', () => {
  const LOOP = '`$ref` leads back to itself without going deeper into the value';

  it('is the fault of its case, with its place', async () => {
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

  it('is refused by --schema before anything is sent, and by the check of a prompt file', async () => {
    const project = new Project({
      'loop.json': '{"$ref":"#"}',
      'a.prompt': ECHO.replace(
        '---\n{{',
        'output:\n  schema:\n    type: object\n    anyOf:\n      - $ref: "#"\n---\n{{',
      ),
    });
    const run = await project.run(['run', 'hello', '-i', 'name=Ada', '--schema', 'loop.json']);

    expect(run.stdout()).toBe('');
    expect(run.stderr()).toContain(`--schema: loop.json: ${LOOP} (at "/$ref")`);
    expect(run.exitCode).toBe(EXIT.usage);

    const check = await project.run(['prompts', 'check', 'a.prompt']);
    expect(check.stdout()).toContain(`a.prompt:10:15: fault: ${LOOP}`);
    expect(check.exitCode).toBe(EXIT.usage);
  });
});

describe('what a test file names', () => {
  const createFiles = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`files/${index}.txt`, String(index)]),
    );

  const formatFileCases = (count: number): string =>
    Array.from({ length: count }, (_, index) =>
      formatCase(`c${index}`, { seconds: 1000 }, `@files/${index}.txt`),
    ).join('');

  it('is at most 1,000 different files: the case that names one more is a fault', async () => {
    const project = createEchoProject(formatFileCases(1001), createFiles(1001));
    const { exitCode, stdout } = await project.run(['test', '--filter', 'c1000']);
    expect(stdout()).toContain(':1002: files/1000.txt is one file too many: a file may name 1,000');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may be 1,000 files, and any of them again', async () => {
    const project = createEchoProject(
      formatFileCases(1000) + formatCase('again', { seconds: 1000 }, '@files/0.txt'),
      createFiles(1000),
    );
    const { exitCode, stdout } = await project.run(['test', '--filter', 'again']);
    expect(stdout()).toContain('1 passed');
    expect(exitCode).toBe(0);
  });

  it('has at most 64 MiB in all', async () => {
    const project = createEchoProject(formatFileCases(5), createFiles(5));
    for (const index of [0, 1, 2, 3]) {
      truncateSync(path.join(project.home, `files/${index}.txt`), 16 * 1024 * 1024);
    }

    const { exitCode, stdout } = await project.run(['test', '--filter', 'c4']);
    expect(stdout()).toContain('may have 64 MiB in all');
    expect(exitCode).toBe(EXIT.usage);

    truncateSync(path.join(project.home, 'files/4.txt'), 0);
    expect((await project.run(['test', '--filter', 'c4'])).exitCode).toBe(0);
  });
});

describe('a file beyond its bound', () => {
  it('is the fault of that file alone, for a test file of more than 8 MiB', async () => {
    const project = createEchoProject(PASSING, { 'large.test.yaml': 'target: ./echo.prompt\n' });
    truncateSync(path.join(project.home, 'large.test.yaml'), 8 * 1024 * 1024 + 1);
    const { exitCode, stdout } = await project.run(['test']);

    expect(stdout()).toContain('large.test.yaml is larger than 8 MiB');
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).toContain('1 passed');
  });

  it('is exit 2 for a recording of more than 64 MiB', async () => {
    const project = createEchoProject(PASSING);
    expect((await project.run(['test', '--record', 'kept'])).exitCode).toBe(0);

    const runs = path.join(project.home, 'kept/runs');
    const [recording = ''] = readdirSync(runs);
    const file = path.join(runs, recording);
    appendFileSync(file, Buffer.alloc(64 * 1024 * 1024 - statSync(file).size, ' '));

    expect((await project.run(['test', '--replay', 'kept'])).exitCode).toBe(0);

    appendFileSync(file, ' ');
    const { exitCode, stdout, stderr } = await project.run(['test', '--replay', 'kept']);

    expect(stdout() + stderr()).toContain('larger than 64 MiB');
    expect(exitCode).toBe(EXIT.usage);
  });
});
