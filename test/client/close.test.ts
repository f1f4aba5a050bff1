import { expect, it } from 'vitest';
import { PromptService } from '../../src/client/client.ts';
import { NetworkError } from '../../src/client/errors.ts';
import { failure, startScriptedService } from '../support/scripted-service.ts';

it('closing a client fails the requests that wait to be tried again', async () => {
  const limited = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, {
    'retry-after': '60',
  });
  const service = await startScriptedService([{ answer: limited }]);
  let waits = (): void => {};
  const waiting = new Promise<void>(resolve => {
    waits = resolve;
  });
  const client = new PromptService({
    baseUrl: service.baseUrl,
    apiKey: 'a-long-enough-key',
    onEvent: ({ kind }) => {
      if (kind === 'retry') waits();
    },
  });
  const request = client.account.get();
  request.catch(() => {});
  await waiting;
  await client.close();

  await expect(request).rejects.toThrow(NetworkError);

  service.verify();
  await service.close();
});
