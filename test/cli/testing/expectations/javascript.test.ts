import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { ECHO, Project } from '../../../support/project.ts';

/**
 * Runs a case of a prompt whose answer is its input.
 *
 * @param expectations the lines of the case below its inputs
 * @param head the lines above the cases
 */
async function test(expectations: string, files: Readonly<Record<string, string>> = {}, head = '') {
  const tests = `${head}cases:\n  - name: all\n    inputs: { text: '{"n": 3, "ok": true}' }\n${expectations}`;
  const project = new Project({ 'echo.prompt': ECHO, 'echo.test.yaml': tests, ...files });
  const { exitCode, stdout, stderr } = await project.run(['test']);
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

/** Code in a file that accepts an answer with a score. */
const CHECK = 'module.exports = (output, { vars }) => ({ pass: vars.want.n === 3, score: 0.7 });';

/** Code in a file that uses the language alone, and finds nothing of Node. */
const LANGUAGE_ONLY =
  "module.exports = output => 'a'.localeCompare('b') < 0 && typeof process === 'undefined';";

describe('an expectation that is JavaScript', () => {
  it.each([
    ['an expression', '{ javascript: "JSON.parse(output).ok" }'],
    ['a score above 0', '{ javascript: "0.1" }'],
    ['a score that is high enough', '{ javascript: "0.5", threshold: 0.5 }'],
    ['a file', '{ javascript: "file://check.js", threshold: 0.7 }'],
    ['an infinite score', '{ javascript: "1 / 0" }'],
    ['a score that is not a number, negated', '{ not: { javascript: "0 / 0" } }'],
    ['an expression that is false, negated', '{ not: { javascript: "output.length > 900" } }'],
    [
      'inputs and variables',
      '{ javascript: "context.vars.text === output && context.vars.want.n === 3" }',
    ],
    [
      'the prompt and the case',
      '{ javascript: "context.prompt === output && context.test.description === `all`" }',
    ],
    [
      'a file that names what Node has too',
      '{ javascript: "file://order.js", transform: "file://order.js" }',
    ],
    [
      'what every engine has',
      '{ javascript: "console.groupCollapsed(1), structuredClone(new Map([[1, new Date(5)]])).get(1).getTime() === 5" }',
    ],
    ['an answer that code has changed', '{ transform: "JSON.parse(output).n", equals: "3" }'],
    [
      'an answer that is no longer text',
      '{ transform: "JSON.parse(output)", javascript: "output.n === 3" }',
    ],
  ])('passes by %s', async (_, expectation) => {
    const vars = '    vars: { want: { n: 3 } }\n';
    const { exitCode, stderr } = await test(`${vars}    expect: [${expectation}]\n`, {
      'check.js': CHECK,
      'order.js': LANGUAGE_ONLY,
    });
    expect(stderr).toEqual(expect.not.stringContaining('error'));
    expect(exitCode).toBe(0);
  });

  it.each([
    ['{ javascript: "output.(" }', 'javascript: SyntaxError: '],
    ['{ javascript: "const a = ;" }', 'javascript: SyntaxError: '],
    ['{ javascript: "if (output) {\\n  return true\\n" }', 'javascript: SyntaxError: '],
    ['{ transform: "output[", contains: n }', 'transform: SyntaxError: '],
  ])('is compiled before anything is run: %s', async (expectation, fault) => {
    const { exitCode, stdout, stderr } = await test(`    expect: [${expectation}]\n`);
    expect(stderr).toContain(`error: echo.test.yaml:4: ${fault}`);
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    ['false', '{ javascript: "output.length < 3" }', '"output.length < 3" returns false'],
    ['0', '{ javascript: "0" }', 'returns 0, which is not above 0'],
    ['a score too low', '{ javascript: "0.4", threshold: 0.5 }', 'returns 0.4, less than 0.5'],
    ['a reason', `{ javascript: '({ pass: false, reason: "too short" })' }`, 'too short'],
    ['no verdict', '{ javascript: "output" }', 'must return true or false, a score'],
    ['an error', '{ javascript: "nope" }', 'ReferenceError'],
    [
      'a transform that fails',
      '{ transform: "nope()", contains: n }',
      'transform "nope()": ReferenceError',
    ],
    ['a loop', '{ javascript: "(() => { for (;;); })()" }', 'takes longer than 2 s'],
  ])('fails by %s', async (_, expectation, message) => {
    const { exitCode, stdout } = await test(
      `    expect: [${expectation}, { javascript: "true" }]\n`,
    );
    expect(stdout).toContain(message);
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stdout).toContain('0 passed, 1 failed');
  });

  it('sees the answer as the file and the case change it', async () => {
    const head = 'transform: JSON.parse(output).n + 1\n';
    expect(await test('    expect: [{ equals: "4" }]\n', {}, head)).toMatchObject({ exitCode: 0 });
    const ownTransform = '    transform: JSON.parse(output).n\n    expect: [{ equals: "3" }]\n';
    expect(await test(ownTransform, {}, head)).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['{ javascript: "file://gone.js" }', 'echo.test.yaml:4: javascript: '],
    ['{ javascript: "file://../check.js" }', 'lies outside the folder'],
    ['{ javascript: "file://fs.js" }', 'it runs its own command'],
    [
      '{ transform: "file://fs.js", contains: n }',
      'fs.js imports something, which only a check may do',
    ],
    ['{ javascript: "file://check.py" }', 'is not a JavaScript file'],
    ['{ contains: n, threshold: 1 }', 'threshold needs an expectation with a score: javascript'],
  ])('is refused before anything is sent: %s', async (expectation, message) => {
    const files = { 'fs.js': 'const fs = require("fs");', '../check.js': CHECK };
    const { exitCode, stdout, stderr } = await test(`    expect: [${expectation}]\n`, files);
    expect(stdout + stderr).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is run by Node if its file imports something, and programs are allowed', async () => {
    const check = `import path from 'node:path';
export default (output, { vars }) => path.basename(vars.name) === JSON.parse(output).n + '.txt';
export const low = () => ({ pass: true, score: 0.2, reason: 'too low' });
export const broken = () => 'yes';
`;

    const run = async (expectation: string): Promise<[number, string]> => {
      const tests = `cases:\n  - inputs: { text: '{"n": 3}' }\n    vars: { name: a/3.txt }\n    expect: [${expectation}]\n`;
      const project = new Project({
        'echo.prompt': ECHO,
        'echo.test.yaml': tests,
        'check.mjs': check,
      });
      const { exitCode, stdout } = await project.run(['test', '--allow-commands']);
      return [exitCode, stdout()];
    };

    expect((await run('{ javascript: "file://check.mjs" }'))[0]).toBe(0);

    const low = await run('{ javascript: "file://check.mjs:low", threshold: 0.5 }');
    expect(low).toEqual([5, expect.stringContaining('too low')]);

    const broken = await run('{ not: { javascript: "file://check.mjs:broken" } }');
    expect(broken).toEqual([5, expect.stringContaining('it must return true or false')]);
  });

  it('fails if its code fails, whatever was expected', async () => {
    const { exitCode, stdout } = await test('    expect: [{ not: { javascript: "nope" } }]\n');
    expect(stdout).toContain('ReferenceError');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('shares the variables of its case with llm, and not with the prompt', async () => {
    // The model `echo` answers with its prompt.
    const llm = '{ prompt: "{{colour}}", model: echo, choices: [{ choice: blue, score: 1 }] }';
    const { exitCode, stdout } = await test(
      `    vars: { colour: blue }
    expect: [{ javascript: "context.vars.colour === \`blue\`" }, { llm: ${llm} }, { not: { contains: blue } }]
`,
    );
    expect(stdout).toContain('1 passed');
    expect(exitCode).toBe(0);
  });
});
