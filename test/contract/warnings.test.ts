import { expect, it, onTestFinished } from 'vitest';
import { storeRuns } from '../support/databases/stored-runs.ts';
import { TestService } from '../support/local-service.ts';

const WARNING_TEXT = 'gpt-5.6 does not take temperature: left out';

it('GET /runs/:runId has the warnings of a run, and no such field for a run without', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const runs = [{ output: 'Hi', warnings: [WARNING_TEXT] }, { output: 'Hi' }];
  const [warnedRunId, plainRunId] = await storeRuns({ service, slug: 'hello' }, runs);
  expect(await service.data(`/runs/${warnedRunId}`)).toMatchObject({ warnings: [WARNING_TEXT] });
  expect(await service.data(`/runs/${plainRunId}`)).not.toHaveProperty('warnings');
});
