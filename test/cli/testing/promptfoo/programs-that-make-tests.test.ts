import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { hasPython } from '../../../support/system.ts';
import { runConfiguration } from './tested-configuration.ts';

/** Makes tests in Python and in JavaScript; its checks see their `config`. */
const MADE = {
  'promptfooconfig.yaml': `prompts: ['Say {{a}}']
providers: [echo]
tests:
  - { path: 'file://made.py', config: { most: 2 } }
  - file://made.mjs:more
`,
  'made.py': `import json
def generate_tests(config=None):
    print('noise')
    return [{'vars': {'a': str(n)}, 'assert': [{'type': 'equals', 'value': 'Say 0'}]} for n in range(config['most'])]
`,
  'made.mjs': `export const more = () => [{
  description: 'more',
  vars: { a: 'x' },
  assert: [
    { type: 'javascript', value: 'output.endsWith(context.config.end)', config: { end: 'x' } },
    { type: 'javascript', value: 'file://check.cjs', config: { end: 'x' } },
    { type: 'python', value: "output.endswith(context['config']['end'])", config: { end: 'y' } },
  ],
}];
`,
  'check.cjs': `require('node:fs');
module.exports = (output, context) => output.endsWith(context.config.end);
`,
};

describe('programs that make the tests of a configuration', () => {
  it.runIf(hasPython)(
    'make tests in Python and JavaScript, whose checks see their config',
    async () => {
      const { exitCode, stdout } = await runConfiguration(MADE, '--allow-commands');
      expect(exitCode).toBe(EXIT.runFailed);
      expect(stdout.match(/^(?:passed|FAILED) .*: (?:case \d|more)/gmu)).toEqual([
        'passed promptfooconfig.yaml: case 1',
        'FAILED promptfooconfig.yaml: case 2',
        'FAILED promptfooconfig.yaml: more',
      ]);
      expect(stdout).toContain('1 passed, 2 failed');
    },
  );

  it('are not started without --allow-commands, and each is reported', async () => {
    const { exitCode, stderr } = await runConfiguration(MADE);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(
      'promptfooconfig.yaml:4: the tests in file://made.py come from a program',
    );
    expect(stderr).toContain(
      'promptfooconfig.yaml:5: the tests in file://made.mjs:more come from a program',
    );
  });

  it('are reported if the language that runs them is not installed', async () => {
    vi.stubEnv('PATH', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stderr } = await runConfiguration(MADE, '--allow-commands');
    expect(stderr).toMatch(
      /:4: the program that makes the tests can't be started with python3?: /u,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it.runIf(hasPython)('are refused if they name ever more programs', async () => {
    const more =
      "export const more = config => [{ path: 'file://made.mjs:more', config: (config ?? 0) + 1 }];";
    const { exitCode, stderr } = await runConfiguration(
      { ...MADE, 'made.mjs': more },
      '--allow-commands',
    );
    expect(stderr).toContain('name ever more programs');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.runIf(hasPython)('are refused if they print more than 8 MiB', async () => {
    const more = "export const more = () => [{ vars: { q: 'x'.repeat(8 * 1024 * 1024) } }];";
    const { exitCode, stderr } = await runConfiguration(
      { ...MADE, 'made.mjs': more },
      '--allow-commands',
    );
    const refusal = 'the program that makes the tests printed more than 8 MiB';
    expect(stderr).toContain(refusal);
    expect(exitCode).toBe(EXIT.usage);
  });

  it.runIf(hasPython)('are reported with their line and their error if they fail', async () => {
    const files = {
      ...MADE,
      'made.mjs': 'export const more = () => { throw new Error("no tests today"); };',
    };
    const { exitCode, stderr } = await runConfiguration(files, '--allow-commands');

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(
      'promptfooconfig.yaml:5: the program that makes the tests ended with 1',
    );
    expect(stderr).toContain('no tests today');
  });
});
