import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  removeDirectory,
  runInProcess,
  type TestOptions,
} from '../../../support/context.ts';
import { FakeProvider, type ProviderAnswer } from '../../../support/providers/fake-provider.ts';

const TERMINAL: TestOptions = { terminal: { stdout: true } };

/** 600 tokens at $2, 400 cached ones at $0.50, and 100 of the answer at $8 a million: $0.0022. */
const COUNTED_ANSWER: ProviderAnswer = {
  body: {
    choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens: 100,
      total_tokens: 1100,
    },
  },
};

const ANSWER_WITHOUT_TEXT: ProviderAnswer = { body: { choices: [] } };

/** Prices are in dollars for a million tokens. */
const formatModelsFile = (baseUrl: string): string => `providers:
  fake: {baseUrl: "${baseUrl}"}
models:
  - {model: priced, modality: text, provider: fake, price: {input: 2, output: 8, cachedInput: 0.5}}
  - {model: unpriced, modality: text, provider: fake}
`;

let provider: FakeProvider;
let home: string;

beforeAll(async () => {
  provider = await FakeProvider.start();
  home = mkdtempSync(path.join(tmpdir(), 'promptrun-test-'));
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  writeFileSync(path.join(home, 'data', 'models.yaml'), formatModelsFile(provider.baseUrl));
  writeFileSync(path.join(home, 'hi.prompt'), '---\nmodel: priced\n---\nSay hi');
});

afterAll(async () => {
  removeDirectory(home);
  await provider.close();
});

function promptrun(argv: readonly string[], options: TestOptions = {}): Promise<CommandResult> {
  return runInProcess(['-q', ...argv], {
    home,
    local: localService,
    env: { PROMPTRUN_DATA_DIR: path.join(home, 'data'), NO_COLOR: '1' },
    ...options,
  });
}

describe('runs show of a run whose model has a price', () => {
  let runId: string;

  beforeAll(async () => {
    provider.reset(COUNTED_ANSWER);
    const { stdout } = await promptrun(['run', 'hi.prompt', '--json']);
    ({ runId } = JSON.parse(stdout()) as { runId: string });
  });

  it('reports its tokens and its cost as JSON', async () => {
    const { stdout } = await promptrun(['runs', 'show', runId, '--json']);
    expect(JSON.parse(stdout())).toMatchObject({
      runId,
      tokens: 1100,
      usage: { tokens: { input: 1000, output: 100, cached: 400 }, cost: 0.0022, estimated: false },
    });
  });

  it('prints them to a pipe as fields separated by tabs', async () => {
    const { stdout } = await promptrun(['runs', 'show', runId]);
    expect(stdout()).toContain(
      'inputTokens\t1000\noutputTokens\t100\ncachedTokens\t400\ncost\t0.0022\nestimated\tfalse\n',
    );
  });

  it('prints them on a terminal with labels', async () => {
    const { stdout } = await promptrun(['runs', 'show', runId], TERMINAL);
    expect(stdout()).toContain(
      'Tokens    1100\nCounted   1000 in (400 cached), 100 out\nCost      $0.0022\n',
    );
  });
});

describe('a failed run of a model without a price', () => {
  beforeAll(async () => {
    provider.reset(ANSWER_WITHOUT_TEXT);
    const { exitCode } = await promptrun(['run', 'hi.prompt', '-m', 'unpriced']);
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('is shown with a cost that is not known, and without credits', async () => {
    const { stdout } = await promptrun(['runs', 'show', '--last'], TERMINAL);
    expect(stdout()).toContain('Cost      not known\n');
    expect(stdout()).not.toContain('Credits');
  });

  it('is not listed as free', async () => {
    const { stdout } = await promptrun(['runs', 'list', '--limit', '1'], TERMINAL);
    expect(stdout()).toContain(' failed ');
    expect(stdout()).not.toContain('free');
  });
});
