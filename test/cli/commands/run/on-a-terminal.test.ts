import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFlags } from '../../../../src/cli/commands/run/run-argv.ts';
import { runTarget } from '../../../../src/cli/commands/run/run-target.ts';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { listPromptFiles } from '../../../../src/cli/inputs/list-prompt-files.ts';
import { localService } from '../../../../src/main.ts';
import { KEY } from '../../../support/client.ts';
import { createTemporaryDirectory, testContext } from '../../../support/context.ts';
import {
  failure,
  type ScriptedService,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import { hasLinks } from '../../../support/system.ts';
import {
  type Answer,
  createScriptedPrompter,
} from '../../../support/terminals/scripted-prompter.ts';
import { creation, PROMPT, RUN, runAgainst, succeededRun, VERSION } from './run-against-service.ts';

/** A terminal on which a person can be asked. */
const PERSON = { terminal: { stdin: true, stdout: true, stderr: true } };

const FLAGS: RunFlags = {
  input: [],
  image: [],
  option: [],
  validate: true,
  wait: true,
  stream: true,
  preview: true,
};

/** Returns the look-up of a version with this config. */
const lookUpOf = (config: object) => ({
  expect: { path: `/prompt-versions/${VERSION}` },
  answer: success({
    promptVersionId: VERSION,
    promptId: PROMPT,
    title: 'T',
    publishedAt: '2026-01-01T00:00:00Z',
    config,
  }),
});

const CONFIG = {
  textInputs: {
    place: { type: 'string', required: true },
    mood: { type: 'string', required: false, default: 'sunny', enum: ['sunny', 'rainy'] },
  },
  imageInputs: [],
};

async function runAtTerminal(
  service: ScriptedService,
  target: string | undefined,
  flags: Partial<RunFlags>,
  ...answers: Answer[]
): Promise<{ exitCode: number; stderr: string; asked: readonly string[] }> {
  const prompter = createScriptedPrompter(...answers);
  const { ctx, stderr } = await testContext({
    ...PERSON,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY },
    prompter,
  });
  const exitCode = await runTarget(ctx, target, { ...FLAGS, ...flags });
  prompter.verify();

  return { exitCode, stderr: stderr(), asked: prompter.asked };
}

describe('run on a terminal', () => {
  it('asks for missing inputs, and shows how to repeat the run', async () => {
    const body = {
      promptVersionId: VERSION,
      inputs: { textInputs: { place: "Land's End", mood: 'rainy' } },
    };
    const service = await startScriptedServiceForTest(
      lookUpOf(CONFIG),
      creation(succeededRun(), body),
    );
    const { exitCode, stderr } = await runAtTerminal(
      service,
      VERSION,
      {},
      ['place', "Land's End"],
      ['mood', 'rainy'],
    );

    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      `To repeat it: promptrun run ${VERSION} -i 'place=Land'\\''s End' -i mood=rainy\n`,
    );
  });

  it('asks nothing if no input is missing', async () => {
    const service = await startScriptedServiceForTest(lookUpOf(CONFIG), creation());
    const { stderr, asked } = await runAtTerminal(service, VERSION, {
      input: ['place=Here', 'mood=sunny'],
    });
    expect(asked).toEqual([]);
    expect(stderr).not.toContain('To repeat it');
  });

  it('asks nothing if only optional inputs are missing', async () => {
    const service = await startScriptedServiceForTest(lookUpOf(CONFIG), creation());
    const { asked } = await runAtTerminal(service, VERSION, { input: ['place=Here'] });
    expect(asked).toEqual([]);
  });

  it('asks for optional inputs as well with --ask', async () => {
    const service = await startScriptedServiceForTest(lookUpOf(CONFIG), creation());
    const flags = { input: ['place=Here'], ask: true };
    const { asked } = await runAtTerminal(service, VERSION, flags, ['mood', 'rainy']);
    expect(asked).toEqual(['mood']);
  });

  it.each([
    { name: 'off a terminal', flags: [], options: {} },
    { name: 'with --no-input', flags: ['--no-input'], options: PERSON },
  ])('refuses --ask $name, because nobody can be asked', async ({ flags, options }) => {
    const service = await startScriptedServiceForTest();
    const { exitCode } = await runAgainst(service, ['run', VERSION, '--ask', ...flags], options);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('refuses invalid inputs before it asks for missing ones', async () => {
    const service = await startScriptedServiceForTest(lookUpOf(CONFIG));
    await expect(runAtTerminal(service, VERSION, { input: ['mood=rain'] })).rejects.toThrow(
      'did you mean rainy?',
    );
  });

  it('looks up an unknown version id as the id of a prompt', async () => {
    const service = await startScriptedServiceForTest(
      {
        expect: { path: `/prompt-versions/${PROMPT}` },
        answer: failure(404, 'NOT_FOUND_ERROR', 'no'),
      },
      { ...lookUpOf({ textInputs: {}, imageInputs: [] }), expect: { path: `/prompts/${PROMPT}` } },
      creation(succeededRun(), { promptVersionId: VERSION, inputs: {} }),
    );
    const { stderr } = await runAtTerminal(service, PROMPT, {});
    expect(stderr).toContain('is a prompt; running its latest version');
  });

  it.each([
    { name: 'with --no-input', flags: ['--no-input'], env: {} },
    { name: 'in CI', flags: [], env: { CI: 'true' } },
  ])('creates the run without a question $name', async ({ flags, env }) => {
    const service = await startScriptedServiceForTest(creation());
    const options = { ...PERSON, env };
    expect((await runAgainst(service, ['run', VERSION, ...flags], options)).exitCode).toBe(0);
  });
});

describe('the progress of a run', () => {
  it.each([
    { name: '--no-spinner', flags: ['--no-spinner'], env: {} },
    { name: 'ACCESSIBLE', flags: [], env: { ACCESSIBLE: '1' } },
  ])('prints each status once, on a line, with $name', async ({ flags, env }) => {
    const pollWithStatus = (runStatus: 'queued' | 'running' | 'succeeded') => ({
      expect: { path: `/runs/${RUN}` },
      answer: success(succeededRun({ runStatus })),
    });

    const service = await startScriptedServiceForTest(
      {
        expect: { path: '/runs' },
        answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', 'x', { runId: RUN }),
      },
      pollWithStatus('queued'),
      pollWithStatus('queued'),
      pollWithStatus('running'),
      pollWithStatus('succeeded'),
    );
    const { stderr } = await runAgainst(service, ['run', VERSION, ...flags], {
      terminal: { stderr: true },
      env,
    });
    expect(stderr()).toBe('creating the run\nqueued\nrunning\nsucceeded\n');
  });

  it('prints nothing off a terminal', async () => {
    const service = await startScriptedServiceForTest(creation());
    expect((await runAgainst(service, ['run', VERSION, '--no-spinner'])).stderr()).toBe('');
  });

  it('prints nothing with --quiet', async () => {
    const service = await startScriptedServiceForTest(creation());
    const options = { terminal: { stderr: true } };
    const argv = ['run', VERSION, '--quiet', '--no-spinner'];
    expect((await runAgainst(service, argv, options)).stderr()).toBe('');
  });
});

describe('previews', () => {
  const startServiceWithImage = async (): Promise<ScriptedService> => {
    const service: ScriptedService = await startScriptedServiceForTest({
      expect: { path: '/runs' },
      answer: () =>
        success(succeededRun({ outputs: [{ type: 'image', data: `${service.origin}/media/1` }] })),
    });
    return service;
  };

  it.each([
    { name: 'a pipe', argv: ['run', VERSION], options: {} },
    {
      name: '--no-preview',
      argv: ['run', VERSION, '--no-preview'],
      options: { terminal: { stdout: true } },
    },
    {
      name: 'a terminal that shows none',
      argv: ['run', VERSION],
      options: { terminal: { stdout: true }, env: { TERM: 'dumb' } },
    },
  ])('shows no preview with $name', async ({ argv, options }) => {
    const service = await startServiceWithImage();
    const { stdout } = await runAgainst(service, argv, options);
    expect(stdout()).toBe(`${service.origin}/media/1\n`);
  });
});

/**
 * Creates a directory with one prompt file to offer, `tea/green.prompt`, and with others that must
 * not be offered: hidden, of a package, a part of others, or a link.
 */
function createDirectoryOfPromptFiles(): string {
  const home = createTemporaryDirectory();
  for (const folder of ['tea', 'node_modules', '.hidden']) {
    mkdirSync(path.join(home, folder));
    writeFileSync(path.join(home, folder, 'green.prompt'), '---\nmodel: echo\n---\nGreen tea.\n');
  }

  writeFileSync(path.join(home, 'tea', '_partial.prompt'), 'x');

  if (hasLinks) {
    symlinkSync(path.join(home, 'tea', 'green.prompt'), path.join(home, 'linked.prompt'));
  }

  return home;
}

const GREEN_TEA_FILE = path.join('tea', 'green.prompt');

it('the prompt files that run offers are those of the user below the working directory', async () => {
  expect(await listPromptFiles(createDirectoryOfPromptFiles())).toEqual([GREEN_TEA_FILE]);
});

it('run without a target asks for one, runs the chosen file, and shows how to repeat it', async () => {
  const home = createDirectoryOfPromptFiles();
  const service = await startScriptedServiceForTest({
    expect: { path: '/prompts/publish', query: { q: 'GREEN' } },
    answer: success({ rows: [] }),
  });
  const prompter = createScriptedPrompter(['prompt', 'GREEN', GREEN_TEA_FILE]);
  const { ctx, stdout, stderr } = await testContext({
    ...PERSON,
    home,
    local: localService,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY },
    prompter,
  });

  expect(await runTarget(ctx, undefined, FLAGS)).toBe(0);
  expect(stdout()).toBe('Green tea.\n');
  expect(stderr()).toContain(`To repeat it: promptrun run ${GREEN_TEA_FILE}\n`);

  prompter.verify();
});
