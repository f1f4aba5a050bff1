import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localService } from '../../../../src/main.ts';
import {
  type Captured,
  createTemporaryDirectory,
  startInProcess,
} from '../../../support/context.ts';

/**
 * Starts a model that sends the first piece of its answer at once, and the rest when the test calls
 * `sendRest`.
 */
async function startStreamingModel(
  pieces: readonly string[],
): Promise<{ home: string; sendRest: () => Promise<void> }> {
  let resolveResponse: (response: ServerResponse) => void = () => {};
  const response = new Promise<ServerResponse>(resolve => {
    resolveResponse = resolve;
  });
  const sendRest = async (): Promise<void> => {
    const openResponse = await response;
    for (const piece of pieces.slice(1)) openResponse.write(formatChunk({ content: piece }));
    openResponse.write(formatChunk({}, 'stop'));
    openResponse.end('data: [DONE]\n\n');
  };

  const server = createServer((request, opened) => {
    request.resume();
    opened.writeHead(200, { 'content-type': 'text/event-stream' });
    opened.write(formatChunk({ role: 'assistant', content: pieces[0] ?? '' }));
    resolveResponse(opened);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  const { port } = server.address() as AddressInfo;
  writeFileSync(
    path.join(home, 'data', 'models.yaml'),
    `models: [{model: llama, modality: text, provider: here}]\nproviders: {here: {baseUrl: "http://127.0.0.1:${port}/v1"}}\n`,
  );

  return { home, sendRest };
}

function formatChunk(delta: object, finish_reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'llama', choices })}\n\n`;
}

async function waitForOutput(running: Captured, text: string): Promise<void> {
  while (!running.stdout().includes(text)) await new Promise(resolve => setImmediate(resolve));
}

const RUN_HELLO = ['run', 'hello', '-i', 'name=Ada', '-m', 'llama'];

describe('streamed text', () => {
  it('prints each piece of a text on a terminal once, as it arrives, without control characters', async () => {
    const { home, sendRest } = await startStreamingModel(['Good \u001b[2J', 'morning', ', Ada!']);
    const running = startInProcess(RUN_HELLO, {
      home,
      local: localService,
      terminal: { stdout: true, stderr: true },
    });
    await waitForOutput(running, 'Good ^[[2J');

    expect(running.stdout()).toBe('Good ^[[2J');

    await sendRest();
    expect(await running.ended).toBe(0);
    expect(running.stdout()).toBe('Good ^[[2Jmorning, Ada!\n');
  });

  it('keeps the control characters of a text in the stored run', async () => {
    const { home, sendRest } = await startStreamingModel(['Good \u001b[2J', 'morning', ', Ada!']);
    const running = startInProcess(RUN_HELLO, { home, local: localService });
    await sendRest();
    expect(await running.ended).toBe(0);

    const stored = startInProcess(['runs', 'get', '--last'], { home, local: localService });
    await stored.ended;
    expect(stored.stdout()).toBe('Good \u001b[2Jmorning, Ada!\n');
  });

  it.each([
    { name: 'a pipe', argv: RUN_HELLO, isTerminal: false },
    { name: '--no-stream', argv: [...RUN_HELLO, '--no-stream'], isTerminal: true },
  ])('prints the whole text at the end to $name', async ({ argv, isTerminal }) => {
    const { home, sendRest } = await startStreamingModel(['Good ', 'morning']);
    const running = startInProcess(argv, {
      home,
      local: localService,
      terminal: { stdout: isTerminal },
    });
    const firstOutput = waitForOutput(running, 'Good').then(() => running.stdout());
    await sendRest();
    expect(await running.ended).toBe(0);
    expect(await firstOutput).toBe('Good morning\n');
  });
});
