import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { startJsonServer } from '../../../support/json-server.ts';
import { Project } from '../../../support/project.ts';
import { CONFIG, runConfiguration } from './tested-configuration.ts';

/** The messages on a file of tests that is missing: a note, and an error. */
const ADDS_NO_TESTS = /:4: .*doesn't exist: it adds no tests/u;
const DOES_NOT_EXIST = /:4: .*doesn't exist/u;

describe('test of a configuration of promptfoo', () => {
  it('runs its tests with each of its prompts and writes nothing', async () => {
    const { project, exitCode, stdout } = await runConfiguration(
      { 'sub/promptfooconfig.yaml': CONFIG },
      'sub',
    );
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stdout).toContain('passed sub/promptfooconfig.yaml: case 1 (prompt 1)');
    expect(stdout).toContain('FAILED sub/promptfooconfig.yaml: case 1 (prompt 2)');
    expect(stdout).toContain(
      'promptfooconfig.yaml:7: "output.includes(context.vars.want)" returns false',
    );
    expect(readdirSync(path.join(project.home, 'sub'))).toEqual(['promptfooconfig.yaml']);
  });

  it('asks its other prompts if one of them cannot be rendered', async () => {
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
    const { exitCode, stdout } = await runConfiguration({ 'promptfooconfig.yaml': text });

    expect(exitCode).toBe(EXIT.usage);
    expect(stdout).toContain('2 passed, 0 failed, 4 could not be run');
    expect(stdout).toContain(
      "promptfooconfig.yaml:7: Nunjucks can't render its prompt: [Line 1, Column 10]",
    );
    expect(stdout).toContain('promptfooconfig.yaml:8: the rendered prompt is not JSON');
  });

  it('asks each prompt once if it has no tests, without variables', async () => {
    const text = `prompts: ['Say {{a}}!', '[{"role": "developer", "content": "Second"}]']
providers: [echo]
redteam: { purpose: p }
`;
    const { exitCode, stdout } = await runConfiguration({ 'promptfooconfig.yaml': text });

    expect(stdout).toContain('2 passed, 0 failed');
    expect(exitCode).toBe(0);

    const failing = `${text}defaultTest: { assert: [{ type: starts-with, value: Say }] }\n`;
    expect(await runConfiguration({ 'promptfooconfig.yaml': failing })).toMatchObject({
      exitCode: EXIT.runFailed,
      stdout: expect.stringContaining('1 passed, 1 failed'),
    });
  });

  it('sends one empty message for a red team without tests and prompts, with a note', async () => {
    // promptfoo sends one empty message there.
    const text = 'targets: [openai:chat:gpt-4o-mini]\nredteam: { purpose: p }\n';
    const { address, requests } = await startJsonServer({
      choices: [{ message: { content: 'Hi' } }],
    });
    const project = new Project({ 'promptfooconfig.yaml': text });
    vi.stubEnv('OPENAI_API_KEY', 'k');
    vi.stubEnv('OPENAI_BASE_URL', address);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stdout, stderr } = await runInProcess(['test'], {
      home: project.home,
      local: localService,
    });

    expect(stdout()).toContain('1 passed, 0 failed');
    expect(exitCode).toBe(0);
    expect(stderr()).toContain(
      'note: promptfooconfig.yaml:2: `redteam` without `tests`: nothing is attacked',
    );
    expect(requests.map(({ body }) => (body as { messages: unknown }).messages)).toEqual([
      [{ role: 'user', content: '' }],
    ]);
  });

  it.each([
    { tests: 'no.yaml', expectedExitCode: 0, message: ADDS_NO_TESTS },
    {
      tests: '[file://no.csv, file://no/*.json]',
      expectedExitCode: 0,
      message: ADDS_NO_TESTS,
    },
    { tests: 'file://no/*.yml', expectedExitCode: 0, message: ADDS_NO_TESTS },
    { tests: 'file://no.csv', expectedExitCode: EXIT.usage, message: DOES_NOT_EXIST },
    { tests: 'no.json', expectedExitCode: EXIT.usage, message: DOES_NOT_EXIST },
  ])(
    'ends with exit $expectedExitCode, as promptfoo decides, for missing tests in $tests',
    async ({ tests, expectedExitCode, message }) => {
      const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { assert: [{ type: contains, value: Say }] }
tests: ${tests}
`;
      const { home } = new Project({ 'promptfooconfig.yaml': text });
      const { exitCode, stderr } = await runInProcess(['test'], { home, local: localService });

      expect(stderr()).toMatch(message);
      expect(exitCode).toBe(expectedExitCode);
    },
  );

  it('runs none of its tests if one of them has a fault', async () => {
    const text = `prompts: ['Say {{a}}', 'Ask {{a}}']
providers: [echo, { id: anthropic:messages:claude-sonnet-4, label: one }]
tests: [{ vars: { a: x }, providers: [echo] }, { vars: { a: y }, providers: [one] }]
`;
    const { exitCode, stdout } = await runConfiguration(
      { 'promptfooconfig.yaml': text },
      '.',
      '--json',
    );
    expect(JSON.parse(stdout)).toEqual(expect.objectContaining({ passed: 0, faults: 1 }));
    expect(exitCode).toBe(EXIT.unauthorised);
  });

  it('replaces each `$ref` by what it refers to', async () => {
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
    const { stdout } = await runConfiguration(files, '.', '--json');
    const { cases } = JSON.parse(stdout) as { cases: { status: string }[] };
    const statuses = ['passed', 'failed', 'passed', 'failed', 'failed'];

    expect(cases.map(({ status }) => status)).toEqual(statuses);

    const loop = config.replace('has: {', "has: { loop: { $ref: '#/assertionTemplates', a: 1 },");
    const endless = await runConfiguration({ ...files, 'promptfooconfig.yaml': loop }, '.');

    expect(endless.stderr).toContain('nested too deeply');
    expect(endless.exitCode).toBe(EXIT.usage);

    const missing = await runConfiguration(
      { ...files, 'promptfooconfig.yaml': config.replace("all/0'", "none'") },
      '.',
    );
    expect(missing.stderr).toContain(':8: an assertion without `type`');
    expect(missing.exitCode).toBe(EXIT.usage);
  });

  it('names the line of the test whose assertion holds a faulty value', async () => {
    const config = CONFIG.replace(
      'type: contains, value: Hello,',
      'type: is-json, value: { deprecated: 1 },',
    );
    const { exitCode, stderr } = await runConfiguration({ 'promptfooconfig.yaml': config });
    expect(stderr).toMatch(/promptfooconfig\.yaml:7: schema: is not a JSON Schema/);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may be named like a test file: its keys decide which of the two it is', async () => {
    const found = await runConfiguration({ 'promptfooconfig.test.yaml': CONFIG }, '.');
    expect(found.stdout).toContain('case 1 (prompt 2)');
    expect(found.exitCode).toBe(EXIT.runFailed);
    const own = await runConfiguration({
      'promptfooconfig.prompt': '---\nmodel: echo\n---\nHi',
      'promptfooconfig.test.yaml': 'cases:\n  - expect: [{ contains: Hi }]\n',
    });
    expect(own.stdout).toContain('1 passed');
    expect(own.exitCode).toBe(0);
  });

  it('sends nothing if keys have no equivalent, and reports each with its line', async () => {
    const config = CONFIG.replace('type: contains,', 'type: similar,').replace(
      '  - vars',
      '  - threshold: 0.5\n    vars',
    );
    const { exitCode, stdout, stderr } = await runConfiguration(
      { 'promptfooconfig.yaml': config },
      'promptfooconfig.yaml',
    );

    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('promptfooconfig.yaml:7: `threshold` of a test has no equivalent');
    expect(stderr).toContain('promptfooconfig.yaml:10: the assertion `similar` has no equivalent');
  });

  it.each([
    {
      name: 'an unknown provider',
      providers: 'providers: [acme:one]',
      message: 'the provider `acme:one` has no equivalent',
    },
    {
      name: 'no provider',
      providers: 'description: x',
      message: 'none of its providers is known',
    },
    {
      name: 'a program without --allow-commands',
      providers: 'providers: ["exec:./bot"]',
      message: ':2: the provider `exec:./bot` is a program, which runs only',
    },
  ])('refuses $name', async ({ providers, message }) => {
    const { exitCode, stdout, stderr } = await runConfiguration({
      'promptfooconfig.yaml': CONFIG.replace('providers: [echo]', providers).replace(
        /^description: g.*\n/u,
        '',
      ),
    });
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain(message);
  });

  it('refuses --update and leaves the file as it is', async () => {
    const { project, exitCode } = await runConfiguration(
      { 'promptfooconfig.yaml': CONFIG },
      '--update',
    );
    expect(exitCode).toBe(EXIT.usage);
    expect(readFileSync(path.join(project.home, 'promptfooconfig.yaml'), 'utf8')).toBe(CONFIG);
  });

  it("fails only the cases with an assertion that promptfoo can't check, and says why", async () => {
    const assertions = [
      "{ type: regex, value: '(?i)hello' }",
      "{ type: not-contains, value: '{{none}}' }",
      '{ type: is-json, value: { type: object, example: 1 } }',
      '{ type: latency }',
      '{ type: skill-used, value: { name: [wiki] } }',
      '{ type: contains, value: Say }',
    ];
    const tests = assertions.map(
      assertion => `  - { vars: { a: Hello }, assert: [${assertion}] }\n`,
    );
    const config = `prompts: ['Say {{a}}']\nproviders: [echo]\ntests:\n${tests.join('')}`;
    const { stdout } = await runConfiguration({ 'promptfooconfig.yaml': config }, '--json');
    const { cases } = JSON.parse(stdout) as {
      cases: { repetitions: { mismatches?: { message: string }[] }[] }[];
    };
    const messages = cases.map(({ repetitions: [only] }) => only?.mismatches?.[0]?.message);

    expect(messages).toEqual([
      expect.stringMatching(/^the assertion `regex` has a pattern that is not one of JavaScript/u),
      'the assertion `not-contains` needs a text that is not empty',
      expect.stringContaining(
        "has the keyword `example` in its schema, which promptfoo doesn't know",
      ),
      expect.stringContaining('needs a `threshold`'),
      expect.stringContaining('needs a skill, a list of skills'),
      undefined,
    ]);
  });
});
