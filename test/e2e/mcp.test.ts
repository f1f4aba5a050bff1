import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMAND, type RunningCommand, runCommand, startCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';
import { commandEnvironment } from '../support/environment.ts';
import { failure, type ScriptedService, scriptedService, success } from '../support/scripted-service.ts';

interface ToolResult {
  readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[];
  readonly structuredContent?: { runId?: string; credits?: number };
  readonly isError?: boolean;
}

let client: Client | undefined;
let stderr = '';
afterEach(async () => {
  await client?.close();
  client = undefined;
});

async function connected(
  { home = temporaryDirectory(), env = {} }: { home?: string; env?: Record<string, string> },
  ...flags: string[]
): Promise<Client> {
  stderr = '';
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, 'mcp', ...flags],
    env: commandEnvironment(home, env),
    cwd: home,
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

async function call(
  name: string,
  args: Record<string, unknown>,
  options?: Parameters<Client['callTool']>[1],
): Promise<ToolResult> {
  if (client === undefined) throw new Error('there is no client');
  return (await client.callTool({ name, arguments: args }, options)) as ToolResult;
}

describe('an agent on a fresh machine', () => {
  it('finds the prompts there are, and renders one for nothing', async () => {
    const { tools } = await (await connected({})).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_prompts', 'run_prompt', 'get_run']);
    const prompts = (await client?.listPrompts())?.prompts ?? [];
    expect(prompts.find(({ name }) => name === 'postcard')?.arguments).toMatchObject([
      { name: 'place', required: true },
      { name: 'mood', required: false },
    ]);
    const rendered = await client?.getPrompt({ name: 'hello', arguments: { name: 'Ada' } });
    expect(rendered?.messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('Ada') as string } },
    ]);
    const { content } = await call('search_prompts', { words: 'postcard' });
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject([
      { prompt: 'postcard', inputs: [{ name: 'place' }, { name: 'mood' }] },
    ]);
  });

  it('gets the picture of a run, its id and what it cost', async () => {
    await connected({});
    const { content, structuredContent, isError } = await call('run_prompt', {
      prompt: 'postcard',
      inputs: { place: 'Lisbon' },
    });
    expect(isError ?? false).toBe(false);
    expect(content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(
      Buffer.from(content[0]?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(content.at(-1)?.text).toContain(structuredContent?.runId);
    expect(structuredContent?.credits).toBe(4);
  });

  it.each([
    [{ prompt: 'hello', inputs: { nam: 'Ada' } }, 'nam'],
    [{ prompt: 'hello' }, 'name'],
    [{ prompt: 'postcard', inputs: { place: 'x' }, options: { colour: 'red' } }, 'colour'],
    [{ prompt: 'describe', images: ['/etc/hostname'] }, 'working directory'],
    [{ prompt: 'describe', images: ['../outside.png'] }, 'working directory'],
    [{ prompt: 'no-such-prompt' }, 'no-such-prompt'],
  ])('is told by the tool what is wrong with %j', async (args, named) => {
    await connected({});
    const { isError, content } = await call('run_prompt', args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(named);
  });

  it('gets a failed run as a tool error with the own words of the run', async () => {
    await connected({});
    const { isError, content } = await call('run_prompt', {
      prompt: 'sandbox',
      options: { outcome: 'failed' },
    });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('asked for with outcome=failed');
  });

  it('learns the id of a run from its progress, gives the call up, and takes the run up again', async () => {
    await connected({});
    const giveUp = new AbortController();
    let runId: string | undefined;
    const onprogress = ({ message = '' }: { message?: string | undefined }): void => {
      runId = /run ([\da-f-]{36})/u.exec(message)?.[1];
      if (runId !== undefined) giveUp.abort();
    };
    const args = { prompt: 'sandbox', options: { delaySeconds: '1' } };
    await expect(call('run_prompt', args, { signal: giveUp.signal, onprogress })).rejects.toThrow();
    const { content } = await call('get_run', { run: runId });
    expect(content[0]?.text).toBe('The rehearsal is over.');
    expect(stderr).toContain(`promptrun runs wait ${runId}`);
  });

  it('makes twenty calls at once', async () => {
    await connected({});
    const names = Array.from({ length: 20 }, (_, at) => `N${at}.`);
    const results = await Promise.all(
      names.map(name => call('run_prompt', { prompt: 'hello', inputs: { name } })),
    );
    expect(results.map(({ content }, at) => content[0]?.text?.includes(names[at] ?? ''))).toEqual(
      names.map(() => true),
    );
  });

  it('spends no more than the session may', async () => {
    await connected({}, '--max-credits', '5');
    const postcard = { prompt: 'postcard', inputs: { place: 'x' } };
    expect((await call('run_prompt', postcard)).isError ?? false).toBe(false);
    const refused = await call('run_prompt', postcard);
    expect([refused.isError, refused.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('CAP_REACHED'),
    ]);
  });

  it('runs only what is allowed, under any name that leads to it', async () => {
    const home = temporaryDirectory();
    const folder = path.join(home, 'prompts');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'mine.prompt'), '---\ntitle: Mine\nmodel: echo\n---\nIt is mine.\n');
    writeFileSync(path.join(folder, 'broken.prompt'), '---\nmodel: [\n---\n');
    await connected({ home }, '--prompts', 'prompts', '--allow', 'mine', '--allow', 'hello');
    expect(stderr).toContain('broken.prompt');
    expect((await client?.listPrompts())?.prompts.map(({ name }) => name)).toEqual(['mine', 'hello']);
    expect((await call('run_prompt', { prompt: 'mine' })).content[0]?.text?.trim()).toBe('It is mine.');
    const refused = await call('run_prompt', { prompt: 'postcard', inputs: { place: 'x' } });
    expect([refused.isError, refused.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('not allowed'),
    ]);
  });
});

describe('an agent of a hosted service', () => {
  let service: ScriptedService | undefined;
  afterEach(() => service?.close());
  const RUN = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';
  const VERSION = '7b2f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b22';
  const version = {
    promptVersionId: VERSION,
    promptId: '8c3f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b33',
    title: 'Say\u001b[2J',
    publishedAt: '2026-05-01T00:00:00Z',
    config: { textInputs: {}, imageInputs: [] },
  };

  it('waits for a run whose creation took too long, and is never shown the key', async () => {
    const run = { runId: RUN, outputs: [{ type: 'text', data: 'late' }], runStatus: 'succeeded', tokens: 1 };
    const gone = failure(504, 'GATEWAY_TIMEOUT_ERROR', 'too long', { runId: RUN });
    service = await scriptedService(
      { expect: { path: `/prompt-versions/${VERSION}` }, answer: success(version) },
      { expect: { method: 'POST' }, answer: gone },
      { expect: { path: `/runs/${RUN}` }, answer: success(run) },
      { expect: { path: '/runs' }, answer: success({ rows: [], hasMore: false }) },
    );
    const key = 'a-long-secret-key';
    await connected({ env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: key } });
    const messages: string[] = [];
    const result = await call(
      'run_prompt',
      { prompt: VERSION },
      { onprogress: ({ message = '' }) => messages.push(message) },
    );
    expect(result.content[0]?.text).toBe('late');
    expect(messages.join('\n')).toContain(RUN);
    expect(JSON.stringify([result, messages, stderr])).not.toContain(key);
  });
});

describe('the end of a session', () => {
  const opening = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  /** A session begun by hand: a client would end it in its own way. */
  function session(...messages: object[]): RunningCommand {
    const started = startCommand(['mcp'], { stdin: { open: true } });
    for (const message of [opening, ...messages]) started.child.stdin.write(`${JSON.stringify(message)}\n`);
    return started;
  }

  it('is 0 once the input ends, and quick requests are answered first', async () => {
    const { child, ended } = session({ jsonrpc: '2.0', id: 2, method: 'prompts/list' });
    child.stdin.end();
    const { code, stdout } = await ended;
    const answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { id: number });
    expect([code, answers.map(({ id }) => id).toSorted()]).toEqual([0, [1, 2]]);
  });

  it.each([
    ['SIGTERM', 143],
    ['the end of the input', 0],
  ])('stops what still runs, which has failed: %s', async (end, expected) => {
    const { child, ended, untilStdout, home } = session({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: {
        name: 'run_prompt',
        arguments: { prompt: 'sandbox', options: { delaySeconds: '130' } },
        _meta: { progressToken: 1 },
      },
    });
    await untilStdout(/run [\da-f-]{36} is running/u);
    if (end === 'SIGTERM') child.kill('SIGTERM');
    else child.stdin.end();
    expect((await ended).code).toBe(expected);
    const { stdout } = await runCommand(['runs', 'list', '--query', '[].runStatus'], { home });
    expect(JSON.parse(stdout)).toEqual(['failed']);
  });
});
