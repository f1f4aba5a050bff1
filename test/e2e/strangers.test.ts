import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { runCommand } from '../support/command.ts';

interface Endless {
  /** Characters of each text that a row shows; default 1. */
  readonly size?: number;
  /** Rows of a page; default 1. */
  readonly rows?: number;
}

/** Variables that lead to a service whose lists never end. */
async function endlessService({ size = 1, rows: count = 1 }: Endless = {}): Promise<Record<string, string>> {
  const createdAt = new Date(Date.now() - 3_600_000).toISOString();
  let sent = 0;
  const row = (): object => {
    sent += 1;
    const runId = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`;
    const text = `${sent}`.padStart(size, 'x');
    return {
      runId,
      promptId: runId,
      promptVersionId: runId,
      outputs: [{ type: 'text', data: text }],
      runStatus: 'succeeded',
      tokens: 1,
      credits: 1,
      runName: text,
      slug: text,
      title: text,
      description: '',
      configs: {},
      createdAt,
    };
  };
  const server = createServer(({ url = '' }, response) => {
    const isList = /^\/v1\/(?:runs|prompts)(?:\?|$)/u.test(url);
    const data = isList ? { rows: Array.from({ length: count }, row), hasMore: true } : row();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'SUCCESS', data }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { PROMPTRUN_BASE_URL: `http://127.0.0.1:${port}/v1`, PROMPTRUN_API_KEY: 'a-key' };
}

const NO_END = "error: the service's list of runs did not end within 10000 pages (PROTOCOL_ERROR)\n";
const MEBIBYTE = 1024 * 1024;

describe('a service whose lists never end', () => {
  it('is given up by runs list --all after 10,000 pages', async () => {
    const { stdout, stderr, code } = await runCommand(['runs', 'list', '--all'], {
      env: await endlessService(),
    });
    expect([code, stderr]).toEqual([1, NO_END]);
    expect(stdout.split('\n')).toHaveLength(10_001);
  });

  it.each([
    [['usage'], 1, "the service's list of runs has more than 64 MiB (PROTOCOL_ERROR)"],
    [['usage', '--by', 'status'], 1, NO_END],
    [
      ['runs', 'save', '--since', '9000d', '--to', 'kept'],
      2,
      '--since: the list of runs has more than 64 MiB',
    ],
  ])('does not fill the memory of %s', async (words, expected, message) => {
    const env = await endlessService({ size: words.includes('status') ? 1 : MEBIBYTE, rows: 8 });
    const { stdout, stderr, code } = await runCommand(words, { env });
    expect([code, stdout, stderr]).toEqual([expected, '', expect.stringContaining(message)]);
  });

  it('does not fill the memory of mcp', async () => {
    const env = await endlessService({ size: MEBIBYTE, rows: 8 });
    const { client, call } = await startAgent([], { env });
    const message = "the service's list of prompts has more than 64 MiB";
    await expect(client.listPrompts()).rejects.toThrow(message);
    expect(JSON.stringify(await call('search_prompts', { words: '' }))).toContain(message);
  });
});
