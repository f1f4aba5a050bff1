import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { startAgent } from '../support/agent.ts';
import { runCommandHere } from '../support/command-here.ts';

const HOUR_MS = 3_600_000;

interface EndlessLists {
  /** Further fields of each row of a list; default none. */
  readonly rowFields?: object;
  /** Further fields of each run; default none. */
  readonly runFields?: object;
  /** Number of rows on a page; default 1. */
  readonly pageSize?: number;
  /** Number of different rows; unlimited by default. */
  readonly differentRowCount?: number;
}

/** Variables that lead to a service whose lists never end. */
async function startEndlessService(lists: EndlessLists = {}): Promise<Record<string, string>> {
  const { pageSize = 1, differentRowCount = Number.POSITIVE_INFINITY } = lists;
  const createdAt = new Date(Date.now() - HOUR_MS).toISOString();
  let sentCount = 0;
  const createRow = (furtherFields: object | undefined): object => {
    sentCount += 1;
    const runId = `00000000-0000-4000-8000-${String(sentCount % differentRowCount).padStart(12, '0')}`;
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
      ...furtherFields,
    };
  };

  const server = createServer(({ url = '' }, response) => {
    const isList = /^\/v1\/(?:runs|prompts)(?:\?|$)/u.test(url);

    const page = (): object => ({
      rows: Array.from({ length: pageSize }, () => createRow(lists.rowFields)),
      hasMore: true,
    });

    response.setHeader('content-type', 'application/json');
    const runId = url.split('/').at(-1);
    response.end(
      JSON.stringify({
        status: 'SUCCESS',
        data: isList ? page() : createRow({ ...lists.runFields, runId }),
      }),
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
  it.each([
    {
      argv: ['usage'],
      lists: { rowFields: { runName: MEBIBYTE } },
      code: EXIT.fault,
      message: "the service's list of runs has more than 64 MiB (PROTOCOL_ERROR)",
    },
    {
      argv: ['runs', 'save', '--since', '9000d', '--to', 'kept'],
      lists: { runFields: { outputs: [{ type: 'text', data: MEBIBYTE }] } },
      code: EXIT.usage,
      message: '--since: the list of runs has more than 64 MiB',
    },
  ])('does not fill the memory of $argv', async ({ argv, lists, code, message }) => {
    const env = await startEndlessService({ ...lists, pageSize: 8 });
    const outcome = await runCommandHere(argv, { env });
    expect(outcome.stdout).toBe('');
    expect(outcome.stderr).toContain(message);
    expect(outcome.code).toBe(code);
  });

  it.each([
    { argv: ['runs', 'list', '--all'], lineCount: 3 },
    { argv: ['usage', '--by', 'status'], lineCount: 0 },
  ])('ends $argv if the same page comes again and again', async ({ argv, lineCount }) => {
    const env = await startEndlessService({ differentRowCount: 2 });
    const { stdout, stderr, code } = await runCommandHere(argv, { env });
    const message =
      'error: the service returns the same page of runs again and again (PROTOCOL_ERROR)\n';
    expect(stderr).toBe(message);
    expect(code).toBe(EXIT.fault);
    expect(stdout.split('\n')).toHaveLength(lineCount + 1);
  });

  it('does not fill the memory of mcp', async () => {
    const env = await startEndlessService({ rowFields: { description: MEBIBYTE }, pageSize: 8 });
    const { client, call } = await startAgent([], { env });
    const message = "the service's list of prompts has more than 64 MiB";
    await expect(client.listPrompts()).rejects.toThrow(message);
    expect(JSON.stringify(await call('search_prompts', { words: '' }))).toContain(message);
  });
});
