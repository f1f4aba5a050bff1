import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../support/command.ts';

/** A service whose list of runs never ends; returns its base URL. */
async function endlessService(): Promise<string> {
  let sent = 0;
  const server = createServer((_, response) => {
    sent += 1;
    const runId = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`;
    const row = {
      runId,
      promptVersionId: runId,
      outputs: [],
      runStatus: 'succeeded',
      credits: 1,
      runName: 'x',
    };
    const rows = [{ ...row, createdAt: '2026-01-02T03:04:05Z' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'SUCCESS', data: { rows, hasMore: true } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

it('gives up a list that never ends after 10,000 pages, with its rows printed', async () => {
  const env = { PROMPTRUN_BASE_URL: await endlessService(), PROMPTRUN_API_KEY: 'a-key' };
  const { stdout, stderr, code } = await runCommand(['runs', 'list', '--all'], { env });
  expect(stderr).toBe("error: the service's list of runs did not end within 10000 pages (PROTOCOL_ERROR)\n");
  expect(stdout.trimEnd().split('\n')).toHaveLength(10_000);
  expect(code).toBe(1);
});
