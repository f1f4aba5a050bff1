import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { localService } from '../../../../../src/main.ts';
import { runInProcess } from '../../../../support/context.ts';
import { Project } from '../../../../support/project.ts';
import { hasPython } from '../../../../support/system.ts';

const CONFIG = `description: greetings
prompts: ['Say {{a}}', 'Tell {{a}}']
providers: [echo]
tags: { team: docs }
sharing: false
tests:
  - vars: { a: Hello, want: Say }
    assert:
      - { type: contains, value: Hello, metric: politeness }
      - { type: javascript, value: output.includes(context.vars.want) }
`;

async function tested(files: Readonly<Record<string, string>>, ...argv: string[]) {
  const project = new Project(files);
  const { exitCode, stdout, stderr } = await project.run(['test', ...argv]);
  return { project, exitCode, stdout: stdout(), stderr: stderr() };
}

describe('test of a configuration of promptfoo', () => {
  it('runs its tests with each of its prompts and writes nothing', async () => {
    const { project, exitCode, stdout } = await tested({ 'sub/promptfooconfig.yaml': CONFIG }, 'sub');
    expect(exitCode).toBe(5);
    expect(stdout).toContain('passed sub/promptfooconfig.yaml: case 1 (prompt 1)');
    expect(stdout).toContain('FAILED sub/promptfooconfig.yaml: case 1 (prompt 2)');
    expect(stdout).toContain('promptfooconfig.yaml:7: "output.includes(context.vars.want)" returns false');
    expect(readdirSync(path.join(project.home, 'sub'))).toEqual(['promptfooconfig.yaml']);
  });

  it('asks its other prompts if one of them can never be sent', async () => {
    // The verdicts of promptfoo: 2 of 6 pass.
    const text = `prompts:
  - 'Say {{a}}'
  - 'Say {{ a b }} {{a}}'
  - '[{"role": "user", "content": {{ a }} }]'
providers: [echo]
tests:
  - { vars: { a: Hello }, assert: [{ type: contains, value: Hello }] }
  - { vars: { a: Bye }, assert: [{ type: contains, value: Bye }] }
`;
    const { exitCode, stdout } = await tested({ 'promptfooconfig.yaml': text });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('2 passed, 0 failed, 4 could not be run');
    expect(stdout).toContain("promptfooconfig.yaml:7: Nunjucks can't render its prompt: [Line 1, Column 10]");
    expect(stdout).toContain('promptfooconfig.yaml:8: the rendered prompt is not JSON');
  });

  it('asks each prompt once if it has no tests, without variables', async () => {
    const text = `prompts: ['Say {{a}}!', '[{"role": "developer", "content": "Second"}]']
providers: [echo]
redteam: { purpose: p }
`;
    const { exitCode, stdout } = await tested({ 'promptfooconfig.yaml': text });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 passed, 0 failed')]);
    const failing = `${text}defaultTest: { assert: [{ type: starts-with, value: Say }] }\n`;
    expect(await tested({ 'promptfooconfig.yaml': failing })).toMatchObject({
      exitCode: 5,
      stdout: expect.stringContaining('1 passed, 1 failed'),
    });
  });

  it('asks once if it is a red team without tests and prompts, and says that nothing is attacked', async () => {
    // promptfoo sends one empty message there.
    const text = 'targets: [openai:chat:gpt-4o-mini]\nredteam: { purpose: p }\n';
    const asked = await besideServer({ choices: [{ message: { content: 'Hi' } }] }, async address => {
      const project = new Project({ 'promptfooconfig.yaml': text });
      vi.stubEnv('OPENAI_API_KEY', 'k');
      vi.stubEnv('OPENAI_BASE_URL', address);
      onTestFinished(() => void vi.unstubAllEnvs());
      const { exitCode, stdout, stderr } = await runInProcess(['test'], {
        home: project.home,
        local: localService,
      });
      expect([exitCode, stdout()]).toEqual([0, expect.stringContaining('1 passed, 0 failed')]);
      expect(stderr()).toContain(
        'note: promptfooconfig.yaml:2: `redteam` without `tests`: nothing is attacked',
      );
    });
    expect(asked.map(({ body }) => (JSON.parse(body) as { messages: unknown }).messages)).toEqual([
      [{ role: 'user', content: '' }],
    ]);
  });

  it('refuses a variable from a PDF, of which promptfoo sends the text', async () => {
    const text = `prompts: ['Read {{a}}']
providers: [echo]
tests: [{ vars: { a: file://bill.pdf } }]
`;
    const { exitCode, stdout, stderr } = await tested({
      'promptfooconfig.yaml': text,
      'bill.pdf': '%PDF-1.4',
    });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('promptfooconfig.yaml:3: file://bill.pdf is a PDF');
  });

  it('takes variables that `transformVars` makes, before lists make cases, as promptfoo does', async () => {
    const text = `prompts: ['{{who}}|{{city}}|{{n}}|{{doc}}|{{all}}']
providers: [echo]
defaultTest:
  vars: { who: Ann }
  options:
    transformVars: "{ ...vars, city: vars.city.toUpperCase(), n: vars.n + 1, all: Object.keys(vars).join() }"
tests:
  - vars: { city: oslo, n: 41, doc: file://doc.txt }
    assert: [{ type: equals, value: 'Ann|OSLO|42|The text|who,city,n,doc' }]
  - vars: { city: bergen, n: 1, doc: file://doc.txt }
    options:
      transformVars: |
        const { doc } = vars;
        return Promise.resolve({ city: ['{{who}}', 'x'], all: doc });
    assert: [{ type: javascript, value: context.vars.n === 1 }, { type: contains, value: '|The text|The text' }]
  - vars: { city: [a, b], n: 0, doc: none }
    options: { transformVars: '({ city: vars.city.length, session: context.uuid })' }
    assert: [{ type: equals, value: 'Ann|2|0|none|' }]
`;
    const files = { 'promptfooconfig.yaml': text, 'doc.txt': 'The text\n' };
    const { exitCode, stdout } = await tested(files);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('4 passed, 0 failed')]);
  });

  it.each([
    ['file://vars.js', ':5: `transformVars` has an equivalent only for code'],
    ['process.env.HOME', ':5: a transform uses `process`'],
    ['vars.a.b.c', ':5: `transformVars`: TypeError'],
    ['vars.a', ':5: `transformVars` returns no object'],
    ["'{ a: context.uuid }'", ':5: `a` has an id that is new for each run'],
  ])("refuses `transformVars` that it can't carry out: %s", async (code, words) => {
    const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest:
  options:
    transformVars: ${code}
tests: [{ vars: { a: x } }]
`;
    const { exitCode, stdout, stderr } = await tested({ 'promptfooconfig.yaml': text });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`promptfooconfig.yaml${words}`);
  });

  it('asks the models that the environment names, and shows no other variable', async () => {
    const env = { OUR_MODEL: 'echo', OUR_MODEL_KEY: 'sk-secret' };
    const runWith = (id: string) => {
      const files = { 'promptfooconfig.yaml': `prompts: [a]\nproviders: ['${id}']\n` };
      return new Project(files).run(['test'], { env });
    };
    const named = await runWith('{{env.OUR_MODEL}}');
    expect([named.exitCode, named.stdout()]).toEqual([0, expect.stringContaining('1 passed')]);
    const secret = await runWith('openai:{{ env.OUR_MODEL_KEY }}');
    expect([secret.exitCode, secret.stderr()]).toEqual([2, expect.stringMatching(/:2: .* needs a variable/)]);
    expect(secret.stdout() + secret.stderr()).not.toContain('sk-secret');
  });

  it.each([
    ['no.yaml', 0],
    ['[file://no.csv, file://no/*.json]', 0],
    ['file://no/*.yml', 0],
    ['file://no.csv', 2],
    ['no.json', 2],
  ])('passes over missing files of tests that promptfoo passes over, with a note: %s', async (name, code) => {
    const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { assert: [{ type: contains, value: Say }] }
tests: ${name}
`;
    const { home } = new Project({ 'promptfooconfig.yaml': text });
    const { exitCode, stderr } = await runInProcess(['test'], { home, local: localService });
    expect(exitCode).toBe(code);
    expect(stderr()).toMatch(code === 0 ? /:4: .*doesn't exist: it adds no tests/ : /:4: .*doesn't exist/);
  });

  it('writes lists and objects into texts as promptfoo does', async () => {
    const text = `prompts: ['Say {{a}}', '[{"role": "user", "content": "Say {{a}}"}]', '{% if a %}Say {{a}}{% endif %}']
providers: [echo]
tests:
  - { vars: { a: { k: 1 } }, assert: [{ type: equals, value: 'Say [object Object]' }] }
  - { vars: { a: [1, [2, { k: 1 }], null] }, assert: [{ type: equals, value: 'Say {{a}}' }] }
  - { vars: { a: [] }, assert: [{ type: equals, value: 'Say ' }] }
`;
    const { exitCode, stdout } = await tested({ 'promptfooconfig.yaml': text });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('9 passed, 0 failed')]);
  });

  it.each([
    ['file://say.mjs', 0],
    ['file://say.py', hasPython ? 0 : undefined],
  ])(
    'gives a program the chat and the variables of each test as promptfoo does: %s',
    async (provider, code) => {
      if (code === undefined) return;
      const chat = { role: 'user', content: 'Sag schön {{a}}{{c}}' };
      const config = {
        prompts: [JSON.stringify([{ role: 'system', content: 'S' }, chat])],
        providers: [provider],
        tests: [
          { vars: { a: 'x', b: 'y' }, assert: [{ type: 'contains', value: '"b":"y"' }] },
          { vars: { a: 'z' }, assert: [{ type: 'not-regex', value: '"[bc]":' }] },
        ],
        defaultTest: {
          assert: [{ type: 'contains', value: '    "content": "Sag schön {{a}}"\n  }\n]' }],
        },
      };
      const { exitCode, stdout } = await tested(
        {
          'promptfooconfig.json': JSON.stringify(config),
          'say.mjs':
            'export default class { async callApi(prompt, { vars }) { return { output: prompt + JSON.stringify(vars) }; } }',
          'say.py':
            "import json\ndef call_api(prompt, options, context):\n  return {'output': prompt + json.dumps(context['vars'], separators=(',', ':'))}\n",
        },
        '--allow-commands',
      );
      expect([exitCode, stdout]).toEqual([code, expect.stringContaining('2 passed, 0 failed')]);
    },
  );

  it.each([
    ['file://count.mjs', 0],
    ['file://count.py', hasPython ? 0 : undefined],
  ])(
    'loads a provider once and asks it for test after test, whatever its programs print: %s',
    async (provider, code) => {
      if (code === undefined) return;
      const config = {
        prompts: ['{{a}}\u2028'],
        providers: [provider],
        evaluateOptions: { maxConcurrency: 1 },
        tests: ['x', 'y', 'z'].map((a, at) => ({
          vars: { a },
          assert: [{ type: 'equals', value: `${a}\u2028 ${at + 1}` }],
        })),
      };
      const { exitCode, stdout } = await tested(
        {
          'promptfooconfig.json': JSON.stringify(config),
          'count.mjs': `import { execSync } from 'node:child_process';
let count = 0;
export default class {
  async callApi(prompt) {
    execSync('echo printed', { stdio: 'inherit' });
    return { output: prompt + ' ' + ++count };
  }
}`,
          'count.py': `import os
count = 0
def call_api(prompt, options, context):
    global count
    count += 1
    os.system('echo printed')
    return {'output': prompt + ' ' + str(count)}
`,
        },
        '--allow-commands',
      );
      expect([exitCode, stdout]).toEqual([code, expect.stringContaining('3 passed, 0 failed')]);
    },
  );

  it('asks the provider and the check beside each of several configurations, even if these are alike', async () => {
    const config = JSON.stringify({
      prompts: ['Hi'],
      providers: ['file://bot.mjs'],
      tests: [{ assert: [{ type: 'javascript', value: 'file://check.cjs' }] }],
    });
    const files = ['a', 'b'].flatMap(folder => [
      [`${folder}/promptfooconfig.json`, config],
      [`${folder}/bot.mjs`, `export default class { callApi() { return { output: '${folder}' }; } }`],
      [
        `${folder}/check.cjs`,
        `require('node:fs'); module.exports = output => ({ pass: output === '${folder}', score: 1, reason: '${folder}' });`,
      ],
    ]);
    const argv = ['a', 'b', '--allow-commands', '--concurrency', '1'];
    const { exitCode, stdout } = await tested(Object.fromEntries(files) as Record<string, string>, ...argv);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 passed, 0 failed')]);
  });

  it('loads a check that imports something a few times for many answers, whatever these hold', async () => {
    const answers = [...Array.from({ length: 12 }, (_, at) => `answer ${at}`), 'x'.repeat(300_000)];
    const config = {
      prompts: ['{{a}}'],
      providers: ['echo'],
      tests: answers.map(a => ({ vars: { a }, assert: [{ type: 'javascript', value: 'file://check.cjs' }] })),
    };
    const files = {
      'promptfooconfig.json': JSON.stringify(config),
      'check.cjs': `require('node:fs').appendFileSync('loads.txt', 'x');
module.exports = (output, { vars }) => {
  console.log('printed');
  return output === vars.a;
};`,
    };
    const { project, exitCode, stdout } = await tested(files, '--allow-commands');
    expect(stdout).toContain('13 passed, 0 failed');
    expect(exitCode).toBe(0);
    expect(readFileSync(path.join(project.home, 'loads.txt'), 'utf8').length).toBeLessThanOrEqual(4);
  });

  it('asks each provider and runs each test with the prompts that it names', async () => {
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
    const program = 'console.log(process.argv.at(-3));';
    const files = { 'say.txt': 'Say {{a}}\n---\nShout {{a}}\n', 'two.mjs': program };
    const { stdout } = await tested(
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

  it('asks the providers that a test names, in the order of the tests', async () => {
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
    const { stdout } = await tested(files, '.', '--allow-commands', '--json');
    const { cases } = JSON.parse(stdout) as { cases: { name: string; model: string; status: string }[] };
    expect(cases.map(({ name, model, status }) => `${name} ${model} ${status}`)).toEqual([
      'case 1 one-program passed',
      'case 2 echo passed',
      'case 3 one-program passed',
      'case 3 echo failed',
      'case 4 node-say-mjs-program passed',
      'case 6 echo passed',
    ]);
    const unknown = config.replace('providers: [one], assert', 'providers: [two], assert');
    const { exitCode, stderr } = await tested(
      { ...files, 'promptfooconfig.yaml': unknown },
      '.',
      '--allow-commands',
    );
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(':6: no known provider is called `two`')]);
  });

  it('leaves out a provider with another answer format', async () => {
    const [address, format] = ['apiBaseUrl: "http://127.0.0.1:9"', 'response_format: { type: json_object }'];
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
    const what = ':4: an answer format other than that of the first provider has no equivalent';
    expect([refused.exitCode, refused.stderr()]).toEqual([2, expect.stringContaining(what)]);
    const skipped = await runInProcess([...check, '--skip-unsupported'], { home, local: localService });
    expect(skipped.stderr()).toContain('note: 3 creations:');
  });

  it('runs none of its tests if one of them has a fault', async () => {
    const text = `prompts: ['Say {{a}}', 'Ask {{a}}']
providers: [echo, { id: anthropic:messages:claude-sonnet-4, label: one }]
tests: [{ vars: { a: x }, providers: [echo] }, { vars: { a: y }, providers: [one] }]
`;
    const { exitCode, stdout } = await tested({ 'promptfooconfig.yaml': text }, '.', '--json');
    expect([exitCode, JSON.parse(stdout)]).toEqual([3, expect.objectContaining({ passed: 0, faults: 1 })]);
  });

  it('counts tests that name only providers that are left out', async () => {
    const text = `prompts: ['Say {{a}}']
providers: [echo, 'exec:cat']
tests: [{ vars: { a: x } }, { vars: { a: y }, providers: ['exec:cat'] }]
`;
    const { home } = new Project({ 'promptfooconfig.yaml': text });
    const { stderr } = await runInProcess(['test', '--skip-unsupported'], { home, local: localService });
    expect(stderr()).toContain('note: left out: 0 checks, 1 case\n');
  });

  it('makes a prompt for each provider whose label its program reads', async () => {
    const files = {
      'promptfooconfig.yaml': `prompts: [file://say.js]
providers: [{ id: echo, label: one }, echo, { id: echo, label: two }]
tests:
  - { vars: { a: x }, assert: [{ type: regex, value: '^(one|two|): x$' }] }
  - { vars: { a: y }, providers: [two], assert: [{ type: equals, value: 'two: y' }] }
`,
      'say.js': 'module.exports = ({ vars, provider }) => `${provider && provider.label}: ${vars.a}`;',
    };
    const { exitCode, stdout } = await tested(files, '.', '--allow-commands', '--json');
    const { cases } = JSON.parse(stdout) as { cases: { repetitions: { outputs: { data: string }[] }[] }[] };
    expect(exitCode).toBe(0);
    expect(cases.map(({ repetitions: [only] }) => only?.outputs[0]?.data)).toEqual([
      'one: x',
      ': x',
      'two: x',
      'two: y',
    ]);
  });

  it('makes the prompts of all cases in one process, as promptfoo does', async () => {
    const files = {
      'promptfooconfig.yaml': `prompts: [file://say.js]
providers: [echo]
tests:
  - { vars: { a: x }, assert: [{ type: equals, value: '1: x' }] }
  - { vars: { a: y }, assert: [{ type: equals, value: '2: y' }] }
`,
      'say.js': 'let calls = 0;\nmodule.exports = ({ vars }) => `${++calls}: ${vars.a}`;\n',
    };
    const { stdout, stderr } = await tested(files, '--allow-commands');
    expect(stdout, stderr).toContain('2 passed, 0 failed');
  });

  it('names a prompt that depends on its provider', async () => {
    const files = {
      'promptfooconfig.yaml': 'prompts: [file://say.js]\nproviders: [echo]\ntests: [{ vars: { a: x } }]\n',
      'say.js': 'module.exports = ({ vars, provider }) => `${provider.id}: ${vars.a}`;',
    };
    const { exitCode, stderr } = await tested(files, '.', '--allow-commands');
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(':1: the prompt file://say.js depends on its'),
    ]);
  });

  it('has values in place of the references to them', async () => {
    const config = `prompts: ['Say {{a}}']
providers: [echo]
assertionTemplates:
  has: { type: contains, value: '{{b}}' }
  all: [{ $ref: '#/assertionTemplates/has' }]
tests:
  - { vars: { a: 1, b: Say }, assert: { $ref: '#/assertionTemplates/all' } }
  - { vars: { a: 2, b: 3 }, assert: [{ $ref: '#/assertionTemplates/all/0' }] }
  - { vars: { a: 4, b: 5 }, assert: [{ $ref: '#/assertionTemplates/has', type: not-contains }] }
  - file://more.yaml
`;
    const more = "- { vars: { a: 6 }, assert: [{ type: equals, value: x }] }\n- { $ref: '#/0' }\n";
    const files = { 'promptfooconfig.yaml': config, 'more.yaml': more };
    const { stdout } = await tested(files, '.', '--json');
    const { cases } = JSON.parse(stdout) as { cases: { status: string }[] };
    const statuses = ['passed', 'failed', 'passed', 'failed', 'failed'];
    expect(cases.map(({ status }) => status)).toEqual(statuses);
    const loop = config.replace('has: {', "has: { loop: { $ref: '#/assertionTemplates', a: 1 },");
    const endless = await tested({ ...files, 'promptfooconfig.yaml': loop }, '.');
    expect([endless.exitCode, endless.stderr]).toEqual([2, expect.stringContaining('nested too deeply')]);
    const missing = await tested(
      { ...files, 'promptfooconfig.yaml': config.replace("all/0'", "none'") },
      '.',
    );
    expect([missing.exitCode, missing.stderr]).toEqual([
      2,
      expect.stringContaining(':8: an assertion without `type`'),
    ]);
  });

  it('names references to no prompt, and those of a provider that promptfoo finds by another id', async () => {
    const config = CONFIG.replace(
      'providers: [echo]',
      'providers: [{ id: echo, prompts: [none] }, { id: file://own.mjs, prompts: [Say] }]',
    ).replace('  - vars', '  - prompts: [nothing]\n    vars');
    const files = { 'own.mjs': 'export default class {}', 'promptfooconfig.yaml': config };
    const { exitCode, stderr } = await tested(files, '.', '--allow-commands');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('promptfooconfig.yaml:7: no prompt is called `nothing`');
    expect(stderr).toContain(
      'promptfooconfig.yaml:3: `prompts` of the provider `echo` names none of the prompts',
    );
    expect(stderr).toContain(
      '`prompts` of the provider `file://own.mjs` has no equivalent: it has no `label`',
    );
  });

  it('names the line of the test whose assertion holds a faulty value', async () => {
    const config = CONFIG.replace(
      'type: contains, value: Hello,',
      'type: is-json, value: { deprecated: 1 },',
    );
    const { exitCode, stderr } = await tested({ 'promptfooconfig.yaml': config });
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/promptfooconfig\.yaml:7: schema: is not a JSON Schema/),
    ]);
  });

  it('is a file that is named like a test file, too, and told from one by its keys', async () => {
    const found = await tested({ 'promptfooconfig.test.yaml': CONFIG }, '.');
    expect([found.exitCode, found.stdout]).toEqual([5, expect.stringContaining('case 1 (prompt 2)')]);
    const own = await tested({
      'promptfooconfig.prompt': '---\nmodel: echo\n---\nHi',
      'promptfooconfig.test.yaml': 'cases:\n  - expect: [{ contains: Hi }]\n',
    });
    expect([own.exitCode, own.stdout]).toEqual([0, expect.stringContaining('1 passed')]);
  });

  it('knows only variables that are set, not what every object has', async () => {
    const config = CONFIG.replace("'Tell", "'{{env.constructor}} Tell");
    const { exitCode, stderr } = await tested({ 'promptfooconfig.yaml': config });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('promptfooconfig.yaml:2: ')]);
  });

  it('names all that has no equivalent with its line, and sends nothing', async () => {
    const config = CONFIG.replace('type: contains,', 'type: similar,').replace(
      '  - vars',
      '  - threshold: 0.5\n    vars',
    );
    const { exitCode, stdout, stderr } = await tested(
      { 'promptfooconfig.yaml': config },
      'promptfooconfig.yaml',
    );
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('promptfooconfig.yaml:7: `threshold` of a test has no equivalent');
    expect(stderr).toContain('promptfooconfig.yaml:10: the assertion `similar` has no equivalent');
  });

  it.each([
    ['an unknown provider', 'providers: [acme:one]', 'the provider `acme:one` has no equivalent'],
    ['no provider', 'description: x', 'none of its providers is known'],
    ['a program', 'providers: ["exec:./bot"]', ':2: the provider `exec:./bot` is a program, which runs only'],
  ])('refuses %s', async (_, providers, words) => {
    const { exitCode, stdout, stderr } = await tested({
      'promptfooconfig.yaml': CONFIG.replace('providers: [echo]', providers).replace(
        /^description: g.*\n/u,
        '',
      ),
    });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('runs each case as often as evaluateOptions say', async () => {
    const { stdout } = await tested(
      { 'promptfooconfig.yaml': `${CONFIG.replace(", 'Tell {{a}}'", '')}evaluateOptions: { repeat: 3 }\n` },
      '--json',
    );
    expect(stdout.match(/"runId"/gu)).toHaveLength(3);
  });

  it('is not updated', async () => {
    const { project, exitCode } = await tested({ 'promptfooconfig.yaml': CONFIG }, '--update');
    expect(exitCode).toBe(2);
    expect(readFileSync(path.join(project.home, 'promptfooconfig.yaml'), 'utf8')).toBe(CONFIG);
  });

  it("fails only the cases with what promptfoo can't check, and says why", async () => {
    const assertions = [
      "{ type: regex, value: '(?i)hello' }",
      "{ type: not-contains, value: '{{none}}' }",
      '{ type: is-json, value: { type: object, example: 1 } }',
      '{ type: latency }',
      '{ type: contains, value: Say }',
    ];
    const tests = assertions.map(assertion => `  - { vars: { a: Hello }, assert: [${assertion}] }\n`);
    const config = `prompts: ['Say {{a}}']\nproviders: [echo]\ntests:\n${tests.join('')}`;
    const { stdout } = await tested({ 'promptfooconfig.yaml': config }, '--json');
    const { cases } = JSON.parse(stdout) as {
      cases: { repetitions: { mismatches?: { message: string }[] }[] }[];
    };
    const messages = cases.map(({ repetitions: [only] }) => only?.mismatches?.[0]?.message);
    expect(messages).toEqual([
      expect.stringMatching(/^the assertion `regex` has a pattern that is not one of JavaScript/u),
      'the assertion `not-contains` needs a text that is not empty',
      expect.stringContaining("has the keyword `example` in its schema, which promptfoo doesn't know"),
      expect.stringContaining('needs a `threshold`'),
      undefined,
    ]);
  });
});

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

describe('programs of a configuration', () => {
  it.runIf(hasPython)('make tests, and checks see their config', async () => {
    const { exitCode, stdout } = await tested(MADE, '--allow-commands');
    expect(exitCode).toBe(5);
    expect(stdout.match(/^(?:passed|FAILED) .*: (?:case \d|more)/gmu)).toEqual([
      'passed promptfooconfig.yaml: case 1',
      'FAILED promptfooconfig.yaml: case 2',
      'FAILED promptfooconfig.yaml: more',
    ]);
    expect(stdout).toContain('1 passed, 2 failed');
  });

  it('are not started without --allow-commands, and each is named', async () => {
    const { exitCode, stderr } = await tested(MADE);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('promptfooconfig.yaml:4: the tests in file://made.py come from a program');
    expect(stderr).toContain('promptfooconfig.yaml:5: the tests in file://made.mjs:more come from a program');
  });

  it('are named if they are not installed', async () => {
    vi.stubEnv('PATH', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stderr } = await tested(MADE, '--allow-commands');
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/:4: the program that makes the tests can't be started with python3?: /u),
    ]);
  });

  it('may be TypeScript, which the jiti of its project runs first', async () => {
    const files = {
      'promptfooconfig.yaml': 'prompts: ["{{q}}"]\nproviders: [file://bot.ts]\ntests: file://made.ts\n',
      'bot.ts':
        'export default class {\n  async callApi(prompt: string) { return { output: prompt + "!" }; }\n}\n',
      'made.ts':
        'const q: string = "hi";\nexport default [{ vars: { q }, assert: [{ type: "equals", value: "hi!" }] }];\n',
      'node_modules/jiti/index.js': `exports.createJiti = () => ({
  import: async file => {
    const text = require('node:fs').readFileSync(file, 'utf8').replaceAll(': string', '');
    return await import('data:text/javascript,' + encodeURIComponent(text));
  },
});`,
    };
    const { stderr, stdout } = await tested(files, '--allow-commands');
    expect(stdout, stderr).toContain('1 passed, 0 failed');
  });

  const KINDS = {
    'promptfooconfig.yaml': `prompts: ['Say {{a}}']
providers: [file://kinds.mjs]
tests:
  - { vars: { a: 1, b: 3 }, assert: [{ type: equals, value: 'number 3' }] }
  - { vars: { a: 2, b: '3' }, assert: [{ type: equals, value: 'number "3"' }] }
  - { vars: { a: 2, b: '' }, assert: [{ type: javascript, value: 'output === "number " + JSON.stringify(context.vars.b)' }] }
  - { vars: { a: 2, b: null }, assert: [{ type: equals, value: 'number null' }] }
  - { vars: { a: 2 }, assert: [{ type: equals, value: 'number undefined' }] }
`,
    'kinds.mjs': `export default class {
  async callApi(_, { vars: { a, b } }) {
    return { output: typeof a + ' ' + JSON.stringify(b) };
  }
}`,
  };

  it('see values of variables as they are written', async () => {
    const { stdout, stderr } = await tested(KINDS, '--allow-commands');
    expect(stdout, stderr).toContain('5 passed, 0 failed');
  });

  it.runIf(hasPython)(
    'get variables of the environment in their config, which no command line shows',
    async () => {
      const config = (id: string) => `prompts: [hi]
providers: [{ id: '${id}', config: { size: '{{env.SIZE}}', other: '{{env.NONE}}' } }]
tests: [{ assert: [{ type: regex, value: '^a "small" one ..env.NONE.. true$' }] }]
`;
      const files = {
        'js/promptfooconfig.yaml': config('file://sizes.mjs'),
        'js/sizes.mjs': `export default class {
  constructor({ config: { size, other } }) {
    this.text = [size, other, !process.argv.join().includes('small')].join(' ');
  }
  async callApi() {
    return { output: this.text };
  }
}`,
        'py/promptfooconfig.yaml': config('file://sizes.py'),
        'py/sizes.py': `import sys
def call_api(prompt, options, context):
    config = options['config']
    hidden = str('small' not in ' '.join(sys.argv)).lower()
    return {'output': ' '.join([config['size'], config['other'], hidden])}
`,
      };
      vi.stubEnv('SIZE', 'a "small" one');
      onTestFinished(() => void vi.unstubAllEnvs());
      const { stdout, stderr } = await new Project(files).run(['test', '--allow-commands']);
      expect(stdout(), stderr()).toContain('2 passed, 0 failed');
      const { stderr: refused } = await tested(
        { 'promptfooconfig.yaml': config('exec:node x.mjs') },
        '--allow-commands',
      );
      expect(refused).toContain('its config names environment variables');
    },
  );

  it("are refused if a variable's text in the prompt doesn't show its kind", async () => {
    const config = KINDS['promptfooconfig.yaml'].replace('{{a}}', '{{b}}');
    const files = { ...KINDS, 'promptfooconfig.yaml': config };
    const { exitCode, stderr } = await tested(files, '--allow-commands');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('`b` has texts and other values')]);
  });

  it("ask Claude as promptfoo does, by its project's Agent SDK", async () => {
    const config = {
      prompts: ['{{q}}'],
      providers: [
        { id: 'anthropic:claude-agent-sdk', config: { working_dir: '.', max_turns: 3 } },
        { id: 'anthropic:claude-agent-sdk', config: { max_turns: 1 } },
      ],
      tests: [
        {
          vars: { q: 'hi' },
          assert: [
            { type: 'javascript', value: 'context.metadata.skillCalls[0].name === "wiki"' },
            { type: 'equals', value: 'hi 3 Glob,Grep,LS,Read claude_code' },
          ],
        },
      ],
    };
    const sdk = `export async function* query({ prompt, options: { maxTurns, allowedTools, systemPrompt, cwd } }) {
  const call = { type: 'tool_use', id: '1', name: 'Skill', input: { skill: 'wiki' } };
  yield { type: 'assistant', message: { content: [call] } };
  if (maxTurns === 1) throw new Error('no turns left in <' + cwd + '>');
  const result = [prompt, maxTurns, allowedTools, systemPrompt.preset].join(' ');
  yield { type: 'result', subtype: 'success', result, total_cost_usd: 0.5, usage: {} };
}`;
    const folder = 'node_modules/@anthropic-ai/claude-agent-sdk';
    const files = {
      'promptfooconfig.json': JSON.stringify(config),
      [`${folder}/package.json`]: '{"type": "module", "exports": {".": {"default": "./sdk.mjs"}}}',
      [`${folder}/sdk.mjs`]: sdk,
    };
    const { stdout, stderr } = await tested(files, 'promptfooconfig.json', '--allow-commands');
    expect(stdout, stderr).toContain('1 passed, 1 failed');
    const [, left = ''] = /no turns left in <(.+)>/u.exec(stdout) ?? [];
    expect([path.basename(left), existsSync(left)]).toEqual([
      expect.stringMatching(/^promptrun-agent-/u),
      false,
    ]);
  });

  it('may be a prompt in TypeScript with enums and imports, also by a pattern, in any project', async () => {
    const files = {
      'promptfooconfig.yaml':
        'prompts: [file://p*.ts]\nproviders: [echo]\ntests: [{ vars: { a: x }, assert: [{ type: equals, value: x! }] }]\n',
      'p1.ts':
        'import { Mark } from "./marks";\nexport default ({ vars }: { vars: { a: string } }) => vars.a + Mark.End;\n',
      'marks.ts': 'export enum Mark { End = "!" }\n',
    };
    const { stderr, stdout } = await tested(files, '--allow-commands');
    expect(stdout, stderr).toContain('1 passed, 0 failed');
    expect((await tested(files)).stderr).toContain('the prompt is a program, which runs only with');
  });

  it('may be TypeScript that imports by the `paths` of its project, of which a tsconfig.json that is not whole has none', async () => {
    const config =
      'prompts: [hi]\nproviders: [file://bot.ts]\ntests: [{ assert: [{ type: equals, value: ok }] }]\n';
    const bot = (answer: string) =>
      `${answer}\nexport default class { async callApi() { return { output: answer }; } }\n`;
    const byPath = {
      'evals/promptfooconfig.yaml': config,
      'evals/bot.ts': bot('import { answer } from "@/lib/answer";'),
      'lib/answer.ts': 'export const answer: string = "ok";\n',
      'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }',
    };
    const argv = ['evals/promptfooconfig.yaml', '--allow-commands'] as const;
    expect((await tested(byPath, ...argv)).stdout).toContain('1 passed, 0 failed');
    const broken = {
      ...byPath,
      'evals/bot.ts': bot('const answer: string = "ok";'),
      'tsconfig.json': '{ "extends": "@tsconfig/not-installed/tsconfig.json" }',
    };
    expect((await tested(broken, ...argv)).stdout).toContain('1 passed, 0 failed');
  });

  it('are asked anew by --resume if their config was changed', async () => {
    const config = (k: number): string =>
      `prompts: ['{{a}}']\nproviders: [{ id: file://bot.mjs, config: { k: ${k} } }]
tests: [{ vars: { a: x }, assert: [{ type: equals, value: 'k is 1' }] }]\n`;
    const bot = `export default class {
  constructor({ config }) { this.config = config; }
  id() { return 'bot'; }
  async callApi() { return { output: 'k is ' + this.config.k }; }
}
`;
    const project = new Project({ 'bot.mjs': bot, 'promptfooconfig.yaml': config(1) });
    const resume = ['test', '--allow-commands', '--resume'];
    expect((await project.run(resume)).exitCode).toBe(0);
    expect((await project.run(resume)).stdout()).toContain('0 passed now, 1 before');
    project.write('promptfooconfig.yaml', config(2));
    expect((await project.run(resume)).exitCode).toBe(5);
  });

  it.runIf(hasPython)('may not name programs without end', async () => {
    const more =
      "export const more = config => [{ path: 'file://made.mjs:more', config: (config ?? 0) + 1 }];";
    const { exitCode, stderr } = await tested({ ...MADE, 'made.mjs': more }, '--allow-commands');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('name ever more programs')]);
  });

  it.runIf(hasPython)('report their faults', async () => {
    const files = {
      ...MADE,
      'made.mjs': 'export const more = () => { throw new Error("no tests today"); };',
    };
    const { exitCode, stderr } = await tested(files, '--allow-commands');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('promptfooconfig.yaml:5: the program that makes the tests ended with 1');
    expect(stderr).toContain('no tests today');
  });
});

interface Asked {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** Runs an action beside a server that answers everything with this JSON. */
async function besideServer(answer: unknown, action: (address: string) => Promise<void>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const reply = async () => {
      asked.push({ request, body: await text(request) });
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    };
    void reply();
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    await action(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked;
}

describe('an HTTP provider of a configuration', () => {
  const config = (address: string, rest: string) => `prompts: ['Say {{a}}']
providers:
  - id: http
    config:
      url: ${address}/ask?of={{a}}
      method: POST
      headers: { X-Team: docs }
      body: { question: '{{prompt}}', about: '{{a}}' }
      ${rest}
tests: [{ vars: { a: 'one "two"' }, assert: [{ type: equals, value: 'an answer' }] }]
`;

  it.each([
    'transformResponse: json.text',
    'transformResponse: "(json, text) => JSON.parse(text).text"',
    'responseParser: json.text',
    // promptfoo reads no such key.
    'responseTimeout: 30000\n      transformResponse: json.text',
  ])('is asked as promptfoo asks it, with %s', async rest => {
    const asked = await besideServer({ text: 'an answer' }, async address => {
      const { exitCode, stdout } = await tested(
        { 'promptfooconfig.yaml': config(address, rest) },
        '--allow-commands',
      );
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 passed')]);
    });
    expect(asked).toHaveLength(1);
    const [{ request, body } = { request: undefined, body: '' }] = asked;
    expect([request?.method, request?.url]).toEqual(['POST', '/ask?of=one%20%22two%22']);
    expect(request?.headers).toMatchObject({ 'x-team': 'docs', 'content-type': 'application/json' });
    expect(JSON.parse(body)).toEqual({ question: 'Say one "two"', about: 'one "two"' });
  });

  it('gets the body that Nunjucks makes of the variables and the prompt', async () => {
    const asked = await besideServer({}, async address => {
      const text = `prompts: ['{{question}}', '{{a}} {{question}}']
providers:
  - id: http
    label: bot
    prompts: ['{{question}}']
    config:
      url: ${address}/ask
      method: POST
      headers: { Content-Type: application/json }
      body: |
        { "turns": [{% for turn in turns %}{{ turn.text | dump }}, {% endfor %}"{{ question }}"]{% if a %},
          "a": {{ a | dump }}{% endif %}, "prompt": "{{ prompt }}" }
tests:
  - vars: { question: 'Is "it"?', turns: [{ text: "One\\n" }, { text: Two }] }
  - vars: { question: Why, a: [b, 'c {{n}}'], n: 7 }
`;
      const argv = ['--allow-commands', '--concurrency', '1'];
      expect(await tested({ 'promptfooconfig.yaml': text }, ...argv)).toMatchObject({ exitCode: 0 });
    });
    // The requests that promptfoo sends.
    expect(asked.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { turns: ['One\n', 'Two', 'Is "it"?'], prompt: 'Is "it"?' },
      { turns: ['Why'], a: 'b', prompt: 'Why' },
      { turns: ['Why'], a: 'c 7', prompt: 'Why' },
    ]);
  });

  it('has the outputs that promptfoo takes from its answer', async () => {
    // The outputs of promptfoo, for each transform.
    const outputs: Readonly<Record<string, object | string | number>> = {
      'json.text': 'an answer',
      'json.text.length': 9,
      'json.nothing': {},
      null: { output: null },
      '""': { output: '' },
      '0': { output: 0 },
      '({ output: json.text, more: 1 })': 'an answer',
      '({ output: "", more: 1 })': { output: '', more: 1 },
      '({ text: 1 })': { text: 1 },
      '[]': [],
    };
    await besideServer({ text: 'an answer', output: 'none of it' }, async address => {
      const provider = (transformResponse?: string) => ({
        id: 'http',
        label: transformResponse ?? 'none',
        config: {
          url: address,
          method: 'POST',
          body: { a: 1 },
          ...(transformResponse && { transformResponse }),
        },
      });
      const test = (label: string, output: unknown) => ({
        vars: { a: 'b' },
        providers: [label],
        assert: [
          {
            type: 'javascript',
            value: `JSON.stringify(output) === ${JSON.stringify(JSON.stringify(output))}`,
          },
        ],
      });
      const config = {
        prompts: ['x'],
        providers: [provider(), ...Object.keys(outputs).map(code => provider(code))],
        tests: [
          test('none', { text: 'an answer', output: 'none of it' }),
          ...Object.entries(outputs).map(([code, output]) => test(code, output)),
        ],
      };
      const files = { 'promptfooconfig.json': JSON.stringify(config) };
      expect((await tested(files, '--allow-commands')).stdout).toContain('11 passed, 0 failed');
    });
  });

  it('is asked with defaults in place of variables that a test lacks, and with pictures as addresses', async () => {
    const asked = await besideServer({ text: 'an answer' }, async address => {
      const text = `prompts: ['{{prompt}}']
providers:
  - id: http
    config:
      url: ${address}/ask
      useHttps: false
      headers: { X-Team: "{{ who | default('nobody') }}" }
      body:
        message: "{{ prompt | default('none') }}"
        system: '{{system | default("You rhyme.")}}'
        image: "{{ image | default('') }}"
      method: POST
evaluateOptions: { maxConcurrency: 1 }
tests:
  - vars: { prompt: One, system: Mine, image: file://a.jpg }
  - vars: { prompt: Two, who: me }
  - vars: { prompt: Three, system: '' }
  - vars: { prompt: Four, system: null, who: 7 }
`;
      // The bytes say what it is, not the name.
      const picture = Buffer.from('RIFF\u0010\0\0\0WEBPVP8 ').toString();
      const files = { 'promptfooconfig.yaml': text, 'a.jpg': picture };
      expect(await tested(files, '--allow-commands', '--concurrency', '1')).toMatchObject({ exitCode: 0 });
    });
    // The requests that promptfoo sends.
    const requests = asked.map(({ request, body }) => [
      request.headers['x-team'],
      JSON.parse(body) as unknown,
    ]);
    const image = 'data:image/webp;base64,UklGRhAAAABXRUJQVlA4IA==';
    expect(requests).toEqual([
      ['nobody', { message: 'One', system: 'Mine', image }],
      ['me', { message: 'Two', system: 'You rhyme.', image: '' }],
      ['nobody', { message: 'Three', system: '', image: '' }],
      ['7', { message: 'Four', system: '', image: '' }],
    ]);
  });

  it('is not asked without --allow-commands, and the entry for a models file is shown', async () => {
    const asked = await besideServer({}, async address => {
      const project = new Project({
        'promptfooconfig.yaml': config(address, 'transformResponse: json.text'),
      });
      const { exitCode, stderr } = await runInProcess(['test'], { home: project.home, local: localService });
      expect(exitCode).toBe(2);
      expect(stderr()).toContain(`    address: ${address}/ask?of=\${input.a}`);
      expect(stderr()).toContain('add --allow-commands');
    });
    expect(asked).toEqual([]);
  });

  it('is refused as a judge if code reads its answer', async () => {
    const text = `prompts: [x]
providers: [echo]
defaultTest:
  options:
    provider: { id: http, config: { url: 'http://127.0.0.1:9', transformResponse: 'json.a + 1' } }
tests: [{ assert: [{ type: llm-rubric, value: good }] }]
`;
    const { exitCode, stderr } = await tested({ 'promptfooconfig.yaml': text }, '--allow-commands');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('code reads its answer')]);
  });

  it('is asked at the value of a variable, which is not shown', async () => {
    const asked = await besideServer({ text: 'an answer' }, async address => {
      const text = config('"{{env.HOOK}}"', 'transformResponse: json.text').replace('HOOK}}"/', 'HOOK}}/');
      const project = new Project({ 'promptfooconfig.yaml': text.replace('?of={{a}}', '"') });
      const env = { HOOK: `${address}/a-secret` };
      const shown = await runInProcess(['test'], { home: project.home, local: localService, env });
      expect([shown.exitCode, shown.stderr()]).toEqual([2, expect.stringContaining('value-of-HOOK/ask')]);
      expect(shown.stderr()).not.toContain('a-secret');
      expect((await project.run(['test', '--allow-commands'], { env })).exitCode).toBe(0);
    });
    expect(asked.map(({ request }) => request.url)).toEqual(['/a-secret/ask']);
  });

  it('can be a provider like OpenAI at its own address', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const asked = await besideServer(answer, async address => {
      const text = `prompts: [{ raw: 'Say {{a}}', config: { top_p: 0.5 } }]
providers:
  - id: openai:chat:ours
    config: { apiBaseUrl: '${address}/v1', temperature: 0.1, strength: 3 }
defaultTest: { options: { max_tokens: 7 } }
env: { OUR_API_KEY: not-used }
tests: [{ vars: { a: x }, assert: [{ type: equals, value: 'an answer', threshold: 2 }] }]
`;
      const project = new Project({ 'promptfooconfig.yaml': text });
      expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);
    });
    expect(asked.map(({ request }) => request.url)).toEqual(['/v1/chat/completions']);
    const { messages: _, ...sent } = JSON.parse(asked[0]?.body ?? '{}') as Record<string, unknown>;
    expect(sent).toEqual({ model: 'ours', temperature: 0.1, top_p: 0.5, max_tokens: 7 });
  });

  it('gives answers of a JSON Schema as values, which promptfoo parses, and others as texts', async () => {
    const answer = { choices: [{ message: { content: '{"q": "one"}' } }] };
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    const formats = [
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
    ];
    const checks = ['"q": "one"', '"q":"one"'].map(value => ({ type: 'contains', value }));
    const values = ['output.q === "one"', 'JSON.parse(output).q === "one"'];
    const asserts = [...checks, ...values.map(value => ({ type: 'javascript', value }))];
    const verdicts: unknown[] = [];
    await besideServer(answer, async address => {
      for (const format of formats) {
        const config = {
          prompts: ['x'],
          providers: [
            {
              id: 'openai:chat:ours',
              config: { apiBaseUrl: `${address}/v1`, response_format: format },
              transform: 'output',
            },
          ],
          tests: asserts.map(assertion => ({ assert: [assertion] })),
        };
        const files = { 'promptfooconfig.json': JSON.stringify(config) };
        const { stdout } = await tested(files, '--allow-commands', '--json');
        const { cases } = JSON.parse(stdout) as { readonly cases: readonly { readonly status: string }[] };
        verdicts.push(cases.map(({ status }) => status));
      }
    });
    expect(verdicts).toEqual([
      ['passed', 'failed', 'failed', 'passed'],
      ['failed', 'passed', 'passed', 'failed'],
    ]);
  });

  it('checks what came of an answer that the token limit cut, and says so', async () => {
    const cut = { message: { content: '{"x":[],"m' }, finish_reason: 'length' };
    const asserts = [
      { type: 'is-json' },
      { type: 'not-contains', value: 'zebra' },
      { type: 'is-refusal' },
      { type: 'equals', value: '' },
    ];
    await besideServer({ choices: [cut] }, async address => {
      const config = { apiBaseUrl: `${address}/v1` };
      const providers = [{ id: 'openai:chat:ours', config }];
      const tests = asserts.map(assertion => ({ assert: [assertion] }));
      const files = { 'promptfooconfig.json': JSON.stringify({ prompts: ['x'], providers, tests }) };
      const options = { home: new Project(files).home, local: localService };
      const { stdout, stderr } = await runInProcess(['test', '--allow-commands'], options);
      expect(stdout().match(/^(?:passed|FAILED) /gmu)).toEqual(['FAILED ', 'passed ', 'FAILED ', 'FAILED ']);
      expect(stderr()).toContain('note: the token limit cut 4 answers short; they were checked as they came');
    });
  });

  it('judges with the config of each place that names it', async () => {
    const answer = { choices: [{ message: { content: 'Yes.' } }] };
    const asked = await besideServer(answer, async address => {
      const judge = (settings: string): string =>
        `{ id: openai:m, config: { apiBaseUrl: '${address}', ${settings} } }`;
      const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { options: { provider: ${judge('temperature: 0.3')} } }
tests:
  - vars: { a: x }
    assert:
      - { type: llm-rubric, value: is short }
      - { type: llm-rubric, value: is short, provider: ${judge('max_tokens: 7')} }
`;
      const project = new Project({ 'promptfooconfig.yaml': text });
      expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);
    });
    const sent = asked.map(({ body }) => {
      const { temperature, max_tokens } = JSON.parse(body) as Record<string, unknown>;
      return { temperature, max_tokens };
    });
    expect(sent).toEqual([
      { temperature: 0.3, max_tokens: 1024 },
      { temperature: 0, max_tokens: 7 },
    ]);
  });

  it.each(['openai:m', 'grader'])('judges with its own config if a judge refers to it: %s', async judge => {
    const answer = { choices: [{ message: { content: 'Yes.' } }] };
    const asked = await besideServer(answer, async address => {
      const text = `prompts: ['Say {{a}}']
providers:
  - { id: openai:m, label: grader, config: { apiBaseUrl: '${address}', temperature: 0.7 } }
  - { id: openai:m, config: { apiBaseUrl: '${address}', temperature: 0.3 } }
defaultTest: { options: { provider: ${judge} } }
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }], providers: [grader] }]
`;
      const project = new Project({ 'promptfooconfig.yaml': text });
      expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);
    });
    const sent = asked.map(({ body }) => (JSON.parse(body) as { readonly temperature: number }).temperature);
    expect(sent).toEqual([0.7, judge === 'grader' ? 0.7 : 0.3]);
  });

  it('is asked anew by --resume if its address was changed', async () => {
    const answer = { choices: [{ message: { content: 'Yes.' } }] };
    const asked = await besideServer(answer, async address => {
      const config = (path: string): string => `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { options: { provider: { id: openai:m, config: { apiBaseUrl: '${address}${path}' } } } }
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }] }]
`;
      const project = new Project({ 'promptfooconfig.yaml': config('') });
      const resume = ['test', '--allow-commands', '--resume'];
      expect((await project.run(resume)).exitCode).toBe(0);
      expect((await project.run(resume)).exitCode).toBe(0);
      project.write('promptfooconfig.yaml', config('/other'));
      expect((await project.run(resume)).exitCode).toBe(0);
    });
    expect(asked.map(({ request }) => request.url?.startsWith('/other'))).toEqual([false, true]);
  });

  it('is another provider at another path, also of another configuration', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const asked = await besideServer(answer, async address => {
      const config = (...places: string[]): string => {
        const providers = places.map(
          place => `{ id: openai:m, config: { apiBaseUrl: '${address}/${place}' } }`,
        );
        return `prompts: ['Say {{a}}']\nproviders: [${providers.join(', ')}]\ntests: [{ vars: { a: x } }]\n`;
      };
      const files = ['a/promptfooconfig.yaml', 'b/promptfooconfig.yaml'];
      const project = new Project({
        'a/promptfooconfig.yaml': config('one', 'two'),
        'b/promptfooconfig.yaml': config('three', 'two'),
      });
      expect((await project.run(['test', ...files, '--allow-commands'])).exitCode).toBe(0);
    });
    const places = ['/one', '/three', '/two', '/two'];
    expect(asked.map(({ request }) => request.url).toSorted()).toEqual(
      places.map(place => `${place}/chat/completions`),
    );
  });

  it('is another provider than one of the own models.yaml with its name, whose headers it does not get', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const asked = await besideServer(answer, async address => {
      const name = new URL(address).host.replaceAll(/[.:]/gu, '-');
      const project = new Project({
        'promptfooconfig.yaml': `prompts: ['Say {{a}}']
providers: [{ id: openai:m, config: { apiBaseUrl: '${address}/theirs' } }]
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }] }]
`,
        'data/models.yaml': `providers:
  ${name}: { baseUrl: '${address}/own', engine: openai, headers: { x-team: ours } }
`,
      });
      await project.run(['test', '--allow-commands', '--judge', `${name}/m`]);
    });
    expect(asked.map(({ request: { url, headers } }) => [url, headers['x-team']])).toEqual([
      ['/theirs/chat/completions', undefined],
      ['/own/chat/completions', 'ours'],
    ]);
  });
});
