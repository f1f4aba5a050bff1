import { expect, it } from 'vitest';
import { PromptService } from '../../src/client/client.ts';
import { NetworkError } from '../../src/client/errors.ts';
import { failure, startScriptedServiceForTest } from '../support/scripted-service.ts';

it('closing a client fails the requests that wait to be tried again', async () => {
  const headers = { 'retry-after': '60' };
  const limited = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, headers);
  const service = await startScriptedServiceForTest({ answer: limited });
  let reportWait = (): void => {};
  const waiting = new Promise<void>(resolve => {
    reportWait = resolve;
  });
  const client = new PromptService({
    baseUrl: service.baseUrl,
    apiKey: 'a-long-enough-key',
    onEvent: ({ kind }) => {
      if (kind === 'retry') reportWait();
    },
  });
  const request = client.account.get();
  request.catch(() => {});
  await waiting;
  await client.close();

  await expect(request).rejects.toThrow(NetworkError);
});
