import { describe, expect, it } from 'vitest';
import { startScript } from '../support/client.ts';
import { failure, success } from '../support/scripted-service.ts';

describe('running a prompt', () => {
  const succeededRun = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
  const version = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

  const inputs = { textInputs: { name: 'Ada' } };
  const row = { promptId: 'p', promptVersionId: version, slug: 'hello' };

  it('creates it, waits for it and reports progress', async () => {
    const { client } = await startScript(
      { expect: { path: '/prompts/publish' }, answer: success({ rows: [row] }) },
      {
        expect: { method: 'POST', path: '/runs', body: { promptVersionId: version, inputs } },
        answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: 'r' }),
      },
      { expect: { path: '/runs/r' }, answer: success({ ...succeededRun, runStatus: 'running' }) },
      { expect: { path: '/runs/r' }, answer: success(succeededRun) },
    );

    const reportedStatuses: string[] = [];
    const onProgress = ({ runStatus }: { runStatus: string }): number =>
      reportedStatuses.push(runStatus);

    await expect(client.run('hello', { name: 'Ada' }, { onProgress })).resolves.toEqual(
      succeededRun,
    );
    expect(reportedStatuses).toEqual(['running', 'succeeded']);
  });

  it('takes an id for a version first, then for a prompt', async () => {
    const prompt = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
    const { client } = await startScript(
      {
        expect: { method: 'POST', path: '/runs' },
        answer: failure(404, 'NOT_FOUND_ERROR', 'none'),
      },
      { expect: { path: `/prompts/${prompt}` }, answer: success(row) },
      {
        expect: { method: 'POST', path: '/runs', body: { promptVersionId: version, inputs } },
        answer: success(succeededRun),
      },
    );
    await expect(client.run(prompt, inputs)).resolves.toEqual(succeededRun);
  });

  it('ends with its signal', async () => {
    const { client } = await startScript();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.run(version, inputs, { signal })).rejects.toThrow('enough');
  });
});
