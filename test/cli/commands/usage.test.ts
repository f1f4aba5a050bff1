import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  removeDirectory,
  runInProcess,
  TEST_NOW,
  type TestOptions,
} from '../../support/context.ts';
import { startScriptedServiceForTest, success } from '../../support/scripted-service.ts';

/** The figures of `usage --json` for runs of the embedded models, which cost nothing. */
const TWO_SUCCEEDED = { runs: 2, failed: 0, credits: 2, tokens: null, cost: 0, estimated: false };
const ONE_FAILED = { runs: 1, failed: 1, credits: 0, tokens: null, cost: 0, estimated: false };
const ALL_THREE = { runs: 3, failed: 1, credits: 2, tokens: null, cost: 0, estimated: false };

describe('usage after two runs of hello and a failed one of sandbox', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-test-'));
  afterAll(() => {
    vi.useRealTimers();
    removeDirectory(home);
  });

  const promptrun = (argv: readonly string[], options: TestOptions = {}): Promise<CommandResult> =>
    runInProcess(['-q', ...argv], { home, local: localService, ...options });

  beforeAll(async () => {
    // The embedded service dates runs by the clock of the system, which may pass midnight.
    vi.useFakeTimers({ toFake: ['Date'], now: TEST_NOW });
    await promptrun(['run', 'hello', '-i', 'name=Ada']);
    await promptrun(['run', 'hello', '-i', 'name=Bo']);
    await promptrun(['run', 'sandbox', '-o', 'outcome=failed']);
  });

  it.each([
    {
      by: 'prompt',
      rows: [
        { key: 'hello', ...TWO_SUCCEEDED },
        { key: 'sandbox', ...ONE_FAILED },
      ],
    },
    {
      by: 'model',
      rows: [
        { key: 'echo', ...TWO_SUCCEEDED },
        { key: 'sandbox', ...ONE_FAILED },
      ],
    },
    {
      by: 'status',
      rows: [
        { key: 'succeeded', ...TWO_SUCCEEDED },
        { key: 'failed', ...ONE_FAILED },
      ],
    },
    { by: 'day', rows: [{ key: '2026-01-02', ...ALL_THREE }] },
  ])('adds up the runs by $by', async ({ by, rows }) => {
    const { stdout } = await promptrun(['usage', '--by', by, '--json']);
    expect(JSON.parse(stdout())).toEqual(rows);
  });

  it('prints a line for each prompt to a pipe', async () => {
    expect((await promptrun(['usage'])).stdout()).toBe(
      'hello\t2\t0\t2\t-\t-\t-\t0\tfalse\nsandbox\t1\t1\t0\t-\t-\t-\t0\tfalse\n',
    );
  });

  it('draws a bar for each prompt on a terminal', async () => {
    const { stdout } = await promptrun(['usage'], { terminal: { stdout: true } });
    expect(stdout()).toMatch(/^hello .* {2}█{10}$/mu);
  });

  it('prints an empty list for a period without runs', async () => {
    const { exitCode, stdout } = await promptrun([
      'usage',
      '--since',
      '2d',
      '--until',
      '1d',
      '--json',
    ]);
    expect(stdout()).toBe('[]\n');
    expect(exitCode).toBe(EXIT.ok);
  });

  it('refuses a period that ends before it begins', async () => {
    const { exitCode, stderr } = await promptrun(['usage', '--since', '1d', '--until', '2d']);
    expect(stderr()).toContain('must be earlier than --until');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('usage of another service', () => {
  it('accepts runs whose names are not texts', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const createdAt = new Date(TEST_NOW).toISOString();
    const run = {
      runId: id,
      promptVersionId: id,
      runStatus: 'succeeded',
      outputs: [],
      credits: 1,
      createdAt,
    };
    const service = await startScriptedServiceForTest({
      expect: { path: '/runs' },
      answer: success({ rows: [{ ...run, runName: { a: 1 } }], hasMore: false }),
    });
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };
    const { exitCode, stdout } = await runInProcess(['usage'], { env });

    expect(stdout()).toBe('{"a":1}\t1\t0\t1\t-\t-\t-\t-\tfalse\n');
    expect(exitCode).toBe(0);
  });

  it('counts the runs of all versions of a prompt under its slug', async () => {
    const home = createTemporaryDirectory();
    const promptId = '00000000-0000-4000-8000-000000000001';
    const oldVersionId = '00000000-0000-4000-8000-000000000002';
    const latestVersionId = '00000000-0000-4000-8000-000000000003';
    const runIdOfLatest = '00000000-0000-4000-8000-000000000004';
    const runIdOfOld = '00000000-0000-4000-8000-000000000005';
    const prompt = {
      promptId,
      promptVersionId: latestVersionId,
      slug: 'greet',
      title: 'A greeting',
      configs: { textInputs: {} },
    };

    const listedRun = { outputs: [], runStatus: 'succeeded', runName: 'A greeting', credits: 1 };
    const createdAt = new Date(TEST_NOW).toISOString();
    const service = await startScriptedServiceForTest(
      { expect: { path: '/prompts/publish' }, answer: success({ rows: [prompt] }) },
      {
        expect: { method: 'POST', path: '/runs' },
        answer: success({ runId: runIdOfLatest, outputs: [], runStatus: 'succeeded', tokens: 1 }),
      },
      {
        expect: { path: '/runs' },
        answer: success({
          rows: [
            { ...listedRun, runId: runIdOfLatest, promptVersionId: latestVersionId, createdAt },
            { ...listedRun, runId: runIdOfOld, promptVersionId: oldVersionId, createdAt },
          ],
          hasMore: false,
        }),
      },
    );
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };

    expect((await runInProcess(['run', 'greet'], { env, home })).exitCode).toBe(0);
    expect((await runInProcess(['usage'], { env, home })).stdout()).toBe(
      'greet\t2\t0\t2\t-\t-\t-\t-\tfalse\n',
    );
  });

  it('refuses --by model', async () => {
    const env = { PROMPTRUN_BASE_URL: 'http://127.0.0.1:9/v1', PROMPTRUN_API_KEY: 'a-key' };
    const { exitCode, stderr } = await runInProcess(['usage', '--by', 'model'], { env });
    expect(stderr()).toContain('--by model');
    expect(exitCode).toBe(EXIT.usage);
  });
});
