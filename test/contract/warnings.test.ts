import { expect, it, onTestFinished } from 'vitest';
import { storeRuns } from '../support/databases/stored-runs.ts';
import { TestService } from '../support/local-service.ts';

const WARNING = 'gpt-5.6 does not take temperature: left out';

it('a run has warnings about the options left out of its request, and the field only then', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const runs = [{ output: 'Hi', warnings: [WARNING] }, { output: 'Hi' }];
  const [warned, plain] = await storeRuns({ service, slug: 'hello' }, runs);
  expect(await service.data(`/runs/${warned}`)).toMatchObject({ warnings: [WARNING] });
  expect(await service.data(`/runs/${plain}`)).not.toHaveProperty('warnings');
});
