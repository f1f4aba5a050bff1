import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/service/core/clock.ts';
import { localUser } from '../../src/service/keys/keys.ts';
import { openDatabase } from '../../src/service/store/open.ts';
import { TestService } from '../support/local-service.ts';
import { databaseFor } from '../support/test-database.ts';

const WARNING = 'gpt-5.6 does not take temperature: left out';

it('returns a run with the options that were left out of its request, and only then', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const { promptId, promptVersionId } = await service.find('hello');
  const { dataDir } = service;
  const store = await openDatabase({ dataDir, database: await databaseFor(dataDir), clock: systemClock });
  onTestFinished(() => store.close());
  const { id: userId } = await localUser(store);
  const worker = await store.workers.register();
  const made = async (warnings?: readonly string[]): Promise<string> => {
    const id = randomUUID();
    const facts = { name: 'Hi', model: '', credits: 0, inputBytes: 0, textBytes: 0, needsSpace: false };
    const request = { textInputs: {}, images: [], runOptions: {} };
    await store.runs.create(
      { id, userId, promptVersionId, promptId, request, ...facts, status: 'running', worker },
      { queued: 10, mediaBytes: 1e9 },
      Date.now(),
    );
    await store.runs.settle({ id, userId }, worker, {
      status: 'succeeded',
      outputs: [],
      tokens: 1,
      media: [],
      warnings,
    });
    return id;
  };
  expect(await service.data(`/runs/${await made([WARNING])}`)).toMatchObject({ warnings: [WARNING] });
  expect(await service.data(`/runs/${await made()}`)).not.toHaveProperty('warnings');
});
