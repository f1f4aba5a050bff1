import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';
import { CONFIG, runConfiguration } from './tested-configuration.ts';

describe('prompts and providers of a configuration', () => {
  it('are combined as each provider and each test names its prompts', async () => {
    const config = `prompts:
  - { id: file://say.txt, label: say }
  - { raw: 'Tell {{a}}', id: tell, label: telling }
  - 'Ask: {{a}}'
providers:
  - { id: echo, label: one, prompts: [say, tell*] }
  - { id: 'exec:node two.mjs', label: two, prompts: [Ask] }
defaultTest:
  prompts: [say, telling]
  assert: [{ type: contains, value: a }]
tests:
  - vars: { a: first }
  - { vars: { a: second }, prompts: [Ask] }
  - { vars: { a: third }, prompts: [] }
  - { vars: { a: fourth }, prompts: say }
`;

    // promptfoo calls a program with three arguments: the prompt, the provider and the test.
    const program = 'console.log(process.argv.at(-3));';
    const files = { 'say.txt': 'Say {{a}}\n---\nShout {{a}}\n', 'two.mjs': program };
    const { stdout } = await runConfiguration(
      { ...files, 'promptfooconfig.yaml': config },
      '.',
      '--allow-commands',
      '--json',
    );
    const { cases } = JSON.parse(stdout) as { cases: { name: string; model: string | null }[] };

    expect(cases.map(({ name, model }) => `${name} ${model}`)).toEqual([
      'case 1 (prompt 1) echo',
      'case 4 (prompt 1) echo',
      'case 1 (prompt 2) echo',
      'case 4 (prompt 2) echo',
      'case 1 (prompt 3) echo',
      'case 4 (prompt 3) echo',
      'case 2 (prompt 4) two-program',
      'case 4 (prompt 4) two-program',
    ]);
  });

  it('are combined as each test names its providers, in the order of the tests', async () => {
    const config = `prompts: ['Say {{a}}']
providers:
  - { id: 'exec:node own.mjs', label: one }
  - echo
tests:
  - { vars: { a: first }, providers: [one], assert: [{ type: equals, value: own }] }
  - { vars: { a: second }, providers: [ech*], assert: [{ type: equals, value: Say second }] }
  - { vars: { a: third }, assert: [{ type: equals, value: own }] }
  - { vars: { a: fourth }, provider: 'exec:node say.mjs', providers: [one], assert: [{ type: equals, value: Say fourth }] }
  - { vars: { a: fifth }, providers: [] }
  - { vars: { a: sixth }, provider: echo, assert: [{ type: equals, value: Say sixth }] }
`;

    const files = {
      'own.mjs': "console.log('own');",
      'say.mjs': 'console.log(process.argv.at(-3));',
      'promptfooconfig.yaml': config,
    };
    const { stdout } = await runConfiguration(files, '.', '--allow-commands', '--json');
    const { cases } = JSON.parse(stdout) as {
      cases: { name: string; model: string; status: string }[];
    };

    expect(cases.map(({ name, model, status }) => `${name} ${model} ${status}`)).toEqual([
      'case 1 one-program passed',
      'case 2 echo passed',
      'case 3 one-program passed',
      'case 3 echo failed',
      'case 4 node-say-mjs-program passed',
      'case 6 echo passed',
    ]);

    const unknown = config.replace('providers: [one], assert', 'providers: [two], assert');
    const { exitCode, stderr } = await runConfiguration(
      { ...files, 'promptfooconfig.yaml': unknown },
      '.',
      '--allow-commands',
    );

    expect(stderr).toContain(':6: no known provider is called `two`');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('leave out a provider with another answer format by --skip-unsupported', async () => {
    const [address, format] = [
      'apiBaseUrl: "http://127.0.0.1:9"',
      'response_format: { type: json_object }',
    ];
    const text = `prompts: ['Say {{a}}']
providers:
  - { id: openai:m, label: one, config: { ${address} } }
  - { id: openai:m, label: two, config: { ${address}, ${format} } }
  - echo
tests:
  - { vars: { a: x } }
  - { vars: { a: y }, providers: [two] }
  - { vars: { a: z }, providers: [echo] }
  - { vars: { a: w }, provider: { id: openai:m, config: { ${address}, ${format} } } }
`;
    const { home } = new Project({ 'promptfooconfig.yaml': text });
    const check = ['test', '--allow-commands', '--dry-run'];
    const refused = await runInProcess(check, { home, local: localService });
    const message = ':4: an answer format other than that of the first provider has no equivalent';

    expect(refused.stderr()).toContain(message);
    expect(refused.exitCode).toBe(EXIT.usage);

    const skipped = await runInProcess([...check, '--skip-unsupported'], {
      home,
      local: localService,
    });
    expect(skipped.stderr()).toContain('note: 3 creations:');
  });

  it('leave out tests that name only providers that are left out, and count them', async () => {
    const text = `prompts: ['Say {{a}}']
providers: [echo, 'exec:cat']
tests: [{ vars: { a: x } }, { vars: { a: y }, providers: ['exec:cat'] }]
`;
    const { home } = new Project({ 'promptfooconfig.yaml': text });
    const { stderr } = await runInProcess(['test', '--skip-unsupported'], {
      home,
      local: localService,
    });
    expect(stderr()).toContain('note: left out: 0 checks, 1 case\n');
  });

  it('are combined anew for each provider if the program of a prompt reads its label', async () => {
    const files = {
      'promptfooconfig.yaml': `prompts: [file://say.js]
providers: [{ id: echo, label: one }, echo, { id: echo, label: two }]
tests:
  - { vars: { a: x }, assert: [{ type: regex, value: '^(one|two|): x$' }] }
  - { vars: { a: y }, providers: [two], assert: [{ type: equals, value: 'two: y' }] }
`,
      'say.js':
        'module.exports = ({ vars, provider }) => `${provider && provider.label}: ${vars.a}`;',
    };
    const { exitCode, stdout } = await runConfiguration(files, '.', '--allow-commands', '--json');
    const { cases } = JSON.parse(stdout) as {
      cases: { repetitions: { outputs: { data: string }[] }[] }[];
    };

    expect(exitCode).toBe(0);
    expect(cases.map(({ repetitions: [only] }) => only?.outputs[0]?.data)).toEqual([
      'one: x',
      ': x',
      'two: x',
      'two: y',
    ]);
  });

  it('come from one process of a prompt program for all cases', async () => {
    const files = {
      'promptfooconfig.yaml': `prompts: [file://say.js]
providers: [echo]
tests:
  - { vars: { a: x }, assert: [{ type: equals, value: '1: x' }] }
  - { vars: { a: y }, assert: [{ type: equals, value: '2: y' }] }
`,
      'say.js': 'let calls = 0;\nmodule.exports = ({ vars }) => `${++calls}: ${vars.a}`;\n',
    };
    const { stdout, stderr } = await runConfiguration(files, '--allow-commands');
    expect(stdout, stderr).toContain('2 passed, 0 failed');
  });

  it('are refused if the program of a prompt reads more of the provider than its label', async () => {
    const files = {
      'promptfooconfig.yaml':
        'prompts: [file://say.js]\nproviders: [echo]\ntests: [{ vars: { a: x } }]\n',
      'say.js': 'module.exports = ({ vars, provider }) => `${provider.id}: ${vars.a}`;',
    };
    const { exitCode, stderr } = await runConfiguration(files, '.', '--allow-commands');
    expect(stderr).toContain(':1: the prompt file://say.js depends on its');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('are refused if `prompts` names a prompt that is missing, or whose id differs in promptfoo', async () => {
    const config = CONFIG.replace(
      'providers: [echo]',
      'providers: [{ id: echo, prompts: [none] }, { id: file://own.mjs, prompts: [Say] }]',
    ).replace('  - vars', '  - prompts: [nothing]\n    vars');
    const files = { 'own.mjs': 'export default class {}', 'promptfooconfig.yaml': config };
    const { exitCode, stderr } = await runConfiguration(files, '.', '--allow-commands');

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('promptfooconfig.yaml:7: no prompt is called `nothing`');
    expect(stderr).toContain(
      'promptfooconfig.yaml:3: `prompts` of the provider `echo` names none of the prompts',
    );
    expect(stderr).toContain(
      '`prompts` of the provider `file://own.mjs` has no equivalent: it has no `label`',
    );
  });
});
