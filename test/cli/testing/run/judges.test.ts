import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { createEchoProject, Project } from '../../../support/project.ts';
import { chatAnswer, FakeProvider } from '../../../support/providers/fake-provider.ts';

const FILE_JUDGE = 'judge: of-file\n';
const CASE_JUDGE = '    judge: of-case\n';
const EXPECTATION_JUDGE = ', judge: of-expectation';
const TESTS_WITH_JUDGES = `${FILE_JUDGE}cases:
  - name: one
${CASE_JUDGE}    inputs: { text: a }
    expect: [{ rubric: polite${EXPECTATION_JUDGE} }]
`;

describe('the judge of a rubric in a test file', () => {
  it.each([
    { name: '--judge', removed: [], flags: ['--judge', 'of-flag'], judge: 'of-flag' },
    { name: 'the expectation', removed: [], flags: [], judge: 'of-expectation' },
    { name: 'the case', removed: [EXPECTATION_JUDGE], flags: [], judge: 'of-case' },
    { name: 'the file', removed: [EXPECTATION_JUDGE, CASE_JUDGE], flags: [], judge: 'of-file' },
    {
      name: 'the setting',
      removed: [EXPECTATION_JUDGE, CASE_JUDGE, FILE_JUDGE],
      flags: [],
      judge: 'of-setting',
    },
  ])('is the one of $name before those that follow', async ({ removed, flags, judge }) => {
    const tests = removed.reduce((text, part) => text.replace(part, ''), TESTS_WITH_JUDGES);
    const project = createEchoProject('', { 'echo.test.yaml': tests });
    await project.run(['config', 'set', 'judge', 'of-setting']);
    const { exitCode, stderr } = await project.run(['test', ...flags]);

    expect(stderr()).toContain(`the model \`${judge}\` does not exist`);
    expect(exitCode).toBe(EXIT.usage);
  });
});

const CONFIG = `prompts: ['{{a}}']
providers: [echo]
defaultTest:
  options: { provider: 'mistral:of-default' }
tests:
  - vars: { a: x }
    options: { provider: 'anthropic:messages:of-test' }
    assert: [{ type: llm-rubric, value: polite, provider: 'openai:of-assertion' }]
`;

const ASSERTION_JUDGE = ", provider: 'openai:of-assertion'";
const TEST_JUDGE = "    options: { provider: 'anthropic:messages:of-test' }\n";
const DEFAULT_JUDGE = "defaultTest:\n  options: { provider: 'mistral:of-default' }\n";

function createProjectWithout(...removedTexts: readonly string[]): Project {
  return new Project({
    'promptfooconfig.yaml': removedTexts.reduce((text, part) => text.replace(part, ''), CONFIG),
  });
}

describe('the judge of a configuration of promptfoo', () => {
  it.each([
    { name: 'the assertion', removed: [], provider: 'openai' },
    { name: 'the test', removed: [ASSERTION_JUDGE], provider: 'anthropic' },
    { name: 'defaultTest', removed: [ASSERTION_JUDGE, TEST_JUDGE], provider: 'mistral' },
    { name: '--judge', removed: [ASSERTION_JUDGE, TEST_JUDGE, DEFAULT_JUDGE], provider: 'groq' },
  ])('is the one of $name before those that follow', async ({ removed, provider }) => {
    const project = createProjectWithout(...removed);
    const { exitCode, stderr } = await project.run(['test', '--judge', 'groq/of-flag']);
    expect(stderr()).toContain(`no key for ${provider}:`);
    expect(exitCode).toBe(EXIT.unauthorised);
  });

  it('is the setting if nothing else names one, and not a default for a key', async () => {
    const project = createProjectWithout(ASSERTION_JUDGE, TEST_JUDGE, DEFAULT_JUDGE);
    await project.run(['config', 'set', 'judge', 'groq/of-setting']);
    const options = { home: project.home, local: localService, env: { OPENAI_API_KEY: 'sk-test' } };
    const { exitCode, stderr } = await runInProcess(['test'], options);
    expect(stderr()).toContain('no key for groq:');
    expect(exitCode).toBe(EXIT.unauthorised);
  });

  it.each([
    ['OPENAI_API_KEY', 'openai/gpt-5.5-2026-04-23'],
    ['ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-4-6'],
  ])("is promptfoo's own default for %s, which a note names", async (variable, model) => {
    const project = createProjectWithout(ASSERTION_JUDGE, TEST_JUDGE, DEFAULT_JUDGE);
    const env = { [variable]: 'sk-test' };
    const { exitCode, stderr } = await runInProcess(['test', '--dry-run'], {
      home: project.home,
      local: localService,
      env,
    });

    expect(stderr()).toContain(`note: judged by ${model}, promptfoo's default`);
    expect(exitCode).toBe(0);

    const named = await runInProcess(['test', '--dry-run', '--judge', 'echo'], {
      home: project.home,
      local: localService,
      env,
    });
    expect(named.exitCode).toBe(0);
    expect(named.stderr()).not.toContain("promptfoo's default");
  });

  it('is missing if nothing names one and no key is set', async () => {
    const { exitCode, stderr } = await createProjectWithout(
      ASSERTION_JUDGE,
      TEST_JUDGE,
      DEFAULT_JUDGE,
    ).run(['test']);
    expect(stderr()).toContain('a rubric needs a judge');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('a test with models of its own endpoint', () => {
  let provider: FakeProvider;
  beforeAll(async () => {
    provider = await FakeProvider.start();
  });
  afterAll(() => provider.close());

  /** Runs a test file with the model `tiny`, which the provider answers. */
  async function runTestFile(testFile: string) {
    const models = `providers:\n  here: {baseUrl: "${provider.baseUrl}"}\nmodels:\n  - {model: tiny, modality: text, provider: here}\n`;
    const project = createEchoProject('', {
      'echo.test.yaml': testFile,
      'data/models.yaml': models,
    });
    return await project.run(['test', '--concurrency', '1'], {
      env: { PROMPTRUN_DATA_DIR: `${project.home}/data` },
    });
  }

  it.each([
    ['yes, 0.9: fine', 0],
    ['yes, 0.7: fine', 0],
    ['yes, 0.6: so-so', EXIT.runFailed],
    ['yes, 15 %: hardly', EXIT.runFailed],
    ['yes (6/10)', EXIT.runFailed],
    ['Yes. 8 / 10, with a smile', 0],
    ['yes, as always', 0],
    ['no, 0.9: rude', EXIT.runFailed],
  ])('decides a rubric with a threshold by its score: %s', async (reply, code) => {
    provider.reset(chatAnswer(reply));
    const cases =
      '  - { inputs: { text: a }, expect: [{ rubric: polite, threshold: 0.7, judge: tiny }] }\n';
    const { exitCode } = await runTestFile(`cases:\n${cases}`);
    expect(exitCode).toBe(code);
    expect(provider.requests).toHaveLength(1);
  });

  it('reads the choice of an `llm` question that follows the reasoning of its model', async () => {
    provider.reset(chatAnswer('<think>\nIs it yes? Hardly.\n</think>\n\nNo.'));
    const choices = '[{ choice: "yes", score: 1 }, { choice: "no", score: 0 }]';
    const { exitCode, stdout } = await runTestFile(
      `cases:\n  - { inputs: { text: a }, expect: [{ llm: { prompt: "Polite?", model: tiny, choices: ${choices} } }] }\n`,
    );
    expect(stdout()).toContain('the model\'s answer is "no", which scores 0: "No."');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it("reports a judge's failed run in the run's own words", async () => {
    provider.reset({ status: 500, body: { error: { message: 'the cellar is flooded' } } });
    const cases = '  - { inputs: { text: a }, expect: [{ rubric: polite, judge: tiny }] }\n';
    const { exitCode, stdout } = await runTestFile(`cases:\n${cases}`);
    expect(stdout()).toMatch(/the judge's run failed: .*the cellar is flooded/u);
    expect(exitCode).toBe(EXIT.fault);
  });

  it('runs each model with the config next to it, instead of that of the prompt', async () => {
    provider.reset(chatAnswer('one'), chatAnswer('two'));
    const { exitCode } = await runTestFile(
      'models: [{ model: tiny, config: { temperature: 0.25 } }, tiny]\ncases:\n  - { inputs: { text: a } }\n',
    );
    const bodies = provider.requests.map(
      ({ text }) => JSON.parse(text) as { readonly temperature?: number },
    );
    expect(bodies.map(({ temperature }) => temperature)).toEqual([0.25, undefined]);
    expect(exitCode).toBe(0);
  });
});
