import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../support/context.ts';
import { startScriptedServiceForTest, success } from '../../support/scripted-service.ts';

describe('usage', () => {
  it('shows the cost of the runs of a period by prompt, model, status and day', async () => {
    const home = createTemporaryDirectory();
    const run = (...argv: string[]): Promise<CommandResult> =>
      runInProcess(['-q', ...argv], { home, local: localService });
    await run('run', 'hello', '-i', 'name=Ada');
    await run('run', 'hello', '-i', 'name=Bo');
    await run('run', 'sandbox', '-o', 'outcome=failed');
    const listRowsBy = async (by: string): Promise<unknown> =>
      JSON.parse((await run('usage', '--by', by, '--json')).stdout()) as unknown;
    const hello = { runs: 2, failed: 0, credits: 2, tokens: null, cost: 0, estimated: false };
    const failed = { runs: 1, failed: 1, credits: 0, tokens: null, cost: 0, estimated: false };

    expect(await listRowsBy('prompt')).toEqual([
      { key: 'hello', ...hello },
      { key: 'sandbox', ...failed },
    ]);
    expect(await listRowsBy('model')).toEqual([
      { key: 'echo', ...hello },
      { key: 'sandbox', ...failed },
    ]);
    expect(await listRowsBy('status')).toEqual([
      { key: 'succeeded', ...hello },
      { key: 'failed', ...failed },
    ]);
    expect(await listRowsBy('day')).toEqual([
      { key: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/u), ...hello, runs: 3, failed: 1 },
    ]);
    expect((await run('usage')).stdout()).toBe(
      'hello\t2\t0\t2\t-\t-\t-\t0\tfalse\nsandbox\t1\t1\t0\t-\t-\t-\t0\tfalse\n',
    );

    const terminal = { home, local: localService, terminal: { stdout: true } };
    expect((await runInProcess(['usage'], terminal)).stdout()).toMatch(/^hello .* {2}█{10}$/mu);

    const emptyPeriod = await run('usage', '--since', '2d', '--until', '1d', '--json');
    expect(emptyPeriod.stdout()).toBe('[]\n');
    expect(emptyPeriod.exitCode).toBe(0);
    expect((await run('usage', '--since', '1d', '--until', '2d')).exitCode).toBe(EXIT.usage);
  });

  it('accepts runs whose names are not texts', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const createdAt = new Date().toISOString();
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

  it('counts all versions of a prompt of another service as one', async () => {
    const home = createTemporaryDirectory();
    const [promptId, run1, run2, old, latest] = ['1', '2', '3', '4', '5'].map(
      digit => `00000000-0000-4000-8000-00000000000${digit}`,
    );
    const row = {
      promptId,
      promptVersionId: latest,
      slug: 'greet',
      title: 'A greeting',
      configs: { textInputs: {} },
    };

    const run = { outputs: [], runStatus: 'succeeded', runName: 'A greeting', credits: 1 };
    const createdAt = new Date().toISOString();
    const service = await startScriptedServiceForTest(
      { expect: { path: '/prompts/publish' }, answer: success({ rows: [row] }) },
      {
        expect: { method: 'POST', path: '/runs' },
        answer: success({ runId: run1, outputs: [], runStatus: 'succeeded', tokens: 1 }),
      },
      {
        expect: { path: '/runs' },
        answer: success({
          rows: [
            { ...run, runId: run1, promptVersionId: latest, createdAt },
            { ...run, runId: run2, promptVersionId: old, createdAt },
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

  it('refuses --by model for another service', async () => {
    const env = { PROMPTRUN_BASE_URL: 'http://127.0.0.1:9/v1', PROMPTRUN_API_KEY: 'a-key' };
    const { exitCode, stderr } = await runInProcess(['usage', '--by', 'model'], { env });
    expect(stderr()).toContain('--by model');
    expect(exitCode).toBe(EXIT.usage);
  });
});
