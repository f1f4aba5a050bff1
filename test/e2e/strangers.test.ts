import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { startAgent } from '../support/agent.ts';
import { runCommandHere } from '../support/command-here.ts';

interface Endless {
  /** More fields of each row of a list; default none. */
  readonly row?: object;
  /** More fields of each run; default none. */
  readonly run?: object;
  /** Rows of a page; default 1. */
  readonly rows?: number;
  /** The number of different rows; unlimited by default. */
  readonly different?: number;
}

/** Variables that lead to a service whose lists never end. */
async function startEndlessService(of: Endless = {}): Promise<Record<string, string>> {
  const { rows: count = 1, different = Number.POSITIVE_INFINITY } = of;
  const createdAt = new Date(Date.now() - 3_600_000).toISOString();
  let sent = 0;
  const row = (more: object | undefined): object => {
    sent += 1;
    const runId = `00000000-0000-4000-8000-${String(sent % different).padStart(12, '0')}`;
    return {
      runId,
      promptId: runId,
      promptVersionId: runId,
      outputs: [],
      runStatus: 'succeeded',
      tokens: 1,
      credits: 1,
      runName: runId,
      slug: runId,
      title: '',
      description: '',
      configs: {},
      createdAt,
      ...more,
    };
  };

  const server = createServer(({ url = '' }, response) => {
    const isList = /^\/v1\/(?:runs|prompts)(?:\?|$)/u.test(url);

    const page = (): object => ({
      rows: Array.from({ length: count }, () => row(of.row)),
      hasMore: true,
    });

    response.setHeader('content-type', 'application/json');
    const runId = url.split('/').at(-1);
    response.end(
      JSON.stringify({ status: 'SUCCESS', data: isList ? page() : row({ ...of.run, runId }) }),
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;

  return { PROMPTRUN_BASE_URL: `http://127.0.0.1:${port}/v1`, PROMPTRUN_API_KEY: 'a-key' };
}

const MEBIBYTE = 'x'.repeat(1024 * 1024);

describe('a service whose lists never end', () => {
  it.each<[string[], Endless, number, string]>([
    [
      ['usage'],
      { row: { runName: MEBIBYTE } },
      1,
      "the service's list of runs has more than 64 MiB (PROTOCOL_ERROR)",
    ],
    [
      ['runs', 'save', '--since', '9000d', '--to', 'kept'],
      { run: { outputs: [{ type: 'text', data: MEBIBYTE }] } },
      2,
      '--since: the list of runs has more than 64 MiB',
    ],
  ])('does not fill the memory of %s', async (words, of, expected, message) => {
    const env = await startEndlessService({ ...of, rows: 8 });
    const { stdout, stderr, code } = await runCommandHere(words, { env });
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(code).toBe(expected);
  });

  it.each([
    { words: ['runs', 'list', '--all'], lines: 3 },
    { words: ['usage', '--by', 'status'], lines: 0 },
  ])('ends $words if the same page comes again and again', async ({ words, lines }) => {
    const env = await startEndlessService({ different: 2 });
    const { stdout, stderr, code } = await runCommandHere(words, { env });
    const message =
      'error: the service returns the same page of runs again and again (PROTOCOL_ERROR)\n';
    expect(stderr).toBe(message);
    expect(code).toBe(EXIT.fault);
    expect(stdout.split('\n')).toHaveLength(lines + 1);
  });

  it('does not fill the memory of mcp', async () => {
    const env = await startEndlessService({ row: { description: MEBIBYTE }, rows: 8 });
    const { client, call } = await startAgent([], { env });
    const message = "the service's list of prompts has more than 64 MiB";
    await expect(client.listPrompts()).rejects.toThrow(message);
    expect(JSON.stringify(await call('search_prompts', { words: '' }))).toContain(message);
  });
});
