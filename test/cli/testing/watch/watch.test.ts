import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { startInProcess } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';

/**
 * Creates a project of three prompts with a case each: two in one folder, one of whose cases reads a
 * file, and one in another folder.
 */
function createThreePromptProject(): Project {
  const testExpectingOwn = (text: string): string =>
    `cases:\n  - { name: says ${text}, inputs: { text: "${text}" }, expect: [{ equals: own }] }\n`;
  return new Project({
    'a/one.prompt': ECHO,
    'a/one.test.yaml': testExpectingOwn('@text.txt'),
    'a/text.txt': 'own',
    'a/two.prompt': ECHO,
    'a/two.test.yaml': testExpectingOwn('own'),
    'b/three.prompt': ECHO,
    'b/three.test.yaml': testExpectingOwn('own'),
  });
}

/**
 * Starts `test --watch`. `next` returns what the command printed since the last call, once that
 * contains a text; `round` does so at the end of a round.
 */
function startWatching(project: Project, argv: readonly string[] = []) {
  const command = startInProcess(['test', '--watch', ...argv], {
    home: project.home,
    local: localService,
  });
  let stdoutLength = 0;
  let stderrLength = 0;
  const waitForNext = async (text: string): Promise<string> => {
    await vi.waitFor(() => expect(command.stderr().slice(stderrLength)).toContain(text), {
      timeout: 60_000,
    });
    const newOutput = command.stderr().slice(stderrLength) + command.stdout().slice(stdoutLength);
    stdoutLength = command.stdout().length;
    stderrLength = command.stderr().length;
    return newOutput;
  };

  return { ...command, next: waitForNext, round: () => waitForNext('waiting for changes') };
}

describe('test --watch', () => {
  it('runs all once, then the cases that each change concerns, and says which and why', async () => {
    const project = createThreePromptProject();
    const { stderr, raise, ended, next, round } = startWatching(project);

    expect(await round()).toContain('3 passed, 0 failed');

    project.write('a/text.txt', 'other');
    expect(await round()).toMatch(
      /text\.txt changed: 1 case\n[^]*FAILED a\/one\.test\.yaml[^]*0 passed, 1 failed/u,
    );

    project.write('a/two.prompt', ECHO);
    project.write('a/_part.prompt', '');
    project.write('a/one.prompt', ECHO.replace('{{text}}', '{{text}}{{> part}}'));
    project.write('a/text.txt', 'own');

    expect(await round()).toMatch(
      /(?:a\/one\.prompt|a\/text\.txt), [^]*changed: 1 case\n[^]*1 passed, 0 failed/u,
    );

    project.write('a/_part.prompt', '!');
    expect(await round()).toMatch(/a\/_part\.prompt changed: 1 case\n[^]*FAILED a\/one/u);

    project.write('b/three.test.yaml', 'cases: [');
    expect(await round()).toMatch(/three\.test\.yaml changed[^]*error: b\/three\.test\.yaml/u);

    project.write('b/three.test.yaml', 'cases: [{ inputs: { text: own } }]');
    expect(await round()).toMatch(/three\.test\.yaml changed: 1 case\n[^]*1 passed, 0 failed\n$/u);

    project.write('c/four.prompt', ECHO);
    project.write('c/four.test.yaml', 'cases: [{ inputs: { text: a } }]');

    expect(await round()).toMatch(/four\.test\.yaml[^]*1 passed, 0 failed\n$/u);
    expect(stderr()).toMatch(
      /note: so far 8 runs took \d+ tokens, \$0\.00\nnote: {3}echo: \$0\.00\n/u,
    );

    rmSync(path.join(project.home, 'c/four.test.yaml'));
    await next('c/four.test.yaml deleted\n');
    rmSync(path.join(project.home, 'a/_part.prompt'));

    expect(await round()).toMatch(/^a\/_part\.prompt deleted: 1 case\n/u);

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });

  it('reads the providers of a promptfoo configuration, and loads programs, anew in each round', async () => {
    const bot = (word: string): string =>
      `export default class {
  constructor({ config }) { this.suffix = config.suffix; }
  callApi() { return { output: '${word} ' + this.suffix }; }
}`;

    const check = (answer: string): string =>
      `require('node:fs'); module.exports = output => output === '${answer}';`;

    const config = (name: string, suffix: string): string =>
      JSON.stringify({
        prompts: ['Hi'],
        providers: [{ id: 'file://bot.mjs', config: { suffix } }],
        tests: [{ description: name, assert: [{ type: 'javascript', value: 'file://check.cjs' }] }],
      });

    const project = new Project({
      'bot.mjs': bot('one'),
      'check.cjs': check('one a'),
      'promptfooconfig.json': config('first', 'a'),
    });
    const { round, raise, ended } = startWatching(project, ['--allow-commands']);

    expect(await round()).toContain('1 passed, 0 failed');

    project.write('bot.mjs', bot('two'));
    project.write('promptfooconfig.json', config('second', 'a'));

    expect(await round()).toContain('0 passed, 1 failed');

    project.write('check.cjs', check('two b'));
    project.write('promptfooconfig.json', config('third', 'b'));

    expect(await round()).toContain('1 passed, 0 failed');

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });

  it('runs a promptfoo configuration in JSON that is new', async () => {
    const project = createThreePromptProject();
    const { round, raise, ended } = startWatching(project);

    expect(await round()).toContain('3 passed, 0 failed');

    project.write(
      'b/promptfooconfig.json',
      JSON.stringify({
        prompts: ['Hi'],
        providers: ['echo'],
        tests: [{ assert: [{ type: 'contains', value: 'Hi' }] }],
      }),
    );

    expect(await round()).toMatch(/b\/promptfooconfig\.json changed[^]*1 passed, 0 failed\n/u);

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });

  it('runs the cases of a test file that have changed, and all if its other keys have', async () => {
    const project = new Project({ 'echo.prompt': ECHO });
    const write = (head: string, ...texts: readonly string[]): void => {
      const cases = texts.map(text => `  - { name: says ${text}, inputs: { text: "${text}" } }\n`);
      project.write('echo.test.yaml', `${head}cases:\n${cases.join('')}`);
    };

    write('', 'one', 'two');
    const { stdout, stderr, next, round, raise, ended } = startWatching(project);

    expect(await round()).toContain('2 passed, 0 failed');

    write('# a remark\n', 'one', 'three', 'four');
    const secondRound = await round();

    expect(secondRound).toMatch(/echo\.test\.yaml changed: 2 cases\n[^]*2 passed, 0 failed/u);
    expect(secondRound).not.toContain('says one');

    write('', 'four', 'one');
    await next('echo.test.yaml changed, but none of its cases');
    write('pass: 50%\n', 'four', 'one');

    expect(await next('so far 6 runs')).toContain('echo.test.yaml changed: 2 cases');

    project.write('echo.test.yaml', 'cases: [');
    await vi.waitFor(() => expect(stderr()).toContain('error: echo.test.yaml'), {
      timeout: 60_000,
    });
    write('pass: 50%\n', 'four', 'one');
    await vi.waitFor(() => expect(stderr()).toContain('so far 8 runs'), { timeout: 60_000 });

    expect(stdout()).toMatch(/2 passed, 0 failed\n$/u);

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });

  it('ends a round that costs nothing at a change, and runs its cases in the next', async () => {
    const slow = (delay: number): string =>
      `target: sandbox\ncases:\n  - { name: slow, options: { delaySeconds: ${delay} } }\n`;
    const project = new Project({ 'slow.test.yaml': slow(130), 'echo.prompt': ECHO });
    project.write('echo.test.yaml', 'cases: [{ name: quick, inputs: { text: a } }]');
    const { stdout, round, raise, ended } = startWatching(project);
    await vi.waitFor(() => expect(readRunJournal(project)).toContain('ended'), { timeout: 60_000 });

    expect(stdout()).toBe('');

    project.write('slow.test.yaml', slow(0));
    expect(await round()).toMatch(/slow\.test\.yaml changed: 1 case\n[^]*2 passed, 0 failed/u);
    expect(stdout().match(/^passed /gmu)).toHaveLength(2);

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });

  it('ends a free round at a change even if a case without checks, which is not sent, has a price', async () => {
    const slow = (delay: number): string =>
      `target: sandbox\ncases:\n  - { name: slow, options: { delaySeconds: ${delay} } }\n`;
    const project = new Project({
      'slow.test.yaml': slow(130),
      'promptfooconfig.yaml': `prompts: ['{{a}}']
providers: ['openai:gpt-4.1']
tests: [{ description: bare, vars: { a: x }, assert: [{ type: similar, value: y }] }]
`,
    });
    vi.stubEnv('OPENAI_API_KEY', 'k');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { round, raise, ended } = startWatching(project, ['--skip-unsupported']);
    await vi.waitFor(() => expect(readRunJournal(project)).not.toBe(''), { timeout: 60_000 });

    project.write('slow.test.yaml', slow(0));
    expect(await round()).toMatch(/slow\.test\.yaml changed: 1 case\n[^]*1 passed, 0 failed/u);

    raise('SIGTERM');
    expect(await ended).toBe(EXIT.terminated);
  });
});

/** Returns the content of the machine's journal. */
function readRunJournal({ home }: Project): string {
  const file = path.join(home, 'state', 'journal.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
