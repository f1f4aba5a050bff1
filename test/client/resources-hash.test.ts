import { describe, expect, it } from 'vitest';
import { startScript, testClient } from '../support/client.ts';
import { success } from '../support/scripted-service.ts';

describe('the resources hash', () => {
  it('is read again for each request, and sent if it is valid', async () => {
    const { service } = await startScript({ answer: success({}), times: 3 });
    let hash: string | undefined;
    const client = testClient(service.baseUrl, { cliAgent: () => hash });
    await client.account.get();
    hash = 'broken\r\nhash';
    await client.account.get();
    hash = 'hash';
    await client.account.get();

    const sentHashes = service.calls.map(({ headers }) => headers['cli-agent']);
    expect(sentHashes).toEqual([undefined, undefined, 'hash']);
  });

  it('is reported as out of date when any answer says so, except that to the resources themselves', async () => {
    const stale = { 'action-require': '' };
    const { service } = await startScript(
      { answer: success({}) },
      { answer: success({}, stale) },
      { answer: { status: 404, headers: stale, body: { status: 'NOT_FOUND_ERROR' } } },
      { answer: success({ hash: 'h', resources: { models: [] } }, stale) },
    );
    let reportCount = 0;
    const client = testClient(service.baseUrl, { onActionRequire: () => reportCount++ });

    await client.account.get();
    expect(reportCount).toBe(0);

    await client.account.get();
    expect(reportCount).toBe(1);

    await client.raw('GET', '/x');
    expect(reportCount).toBe(2);

    await client.resources.get();
    expect(reportCount).toBe(2);
  });
});
