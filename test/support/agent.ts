import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { COMMAND } from './command.ts';
import { startCommandHere } from './command-here.ts';
import { createTemporaryDirectory } from './context.ts';
import { buildCommandEnvironment } from './environment.ts';

export interface ToolResult {
  readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[];
  readonly structuredContent?: { runId?: string; credits?: number };
  readonly isError?: boolean;
}

export interface Agent {
  readonly client: Client;
  readonly home: string;
  readonly stderr: () => string;
  readonly call: (
    name: string,
    args: Record<string, unknown>,
    options?: Parameters<Client['callTool']>[1],
  ) => Promise<ToolResult>;
}

interface AgentOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly client?: ClientOptions;
}

/**
 * Starts `promptrun mcp` in this process and returns a client of it, which is closed with the test.
 */
export async function startAgent(
  flags: readonly string[] = [],
  { home = createTemporaryDirectory(), env = {}, client }: AgentOptions = {},
): Promise<Agent> {
  const transport = new TransportHere(onStdout => {
    const input = new PassThrough();
    return { input, ...startCommandHere(['mcp', ...flags], { home, env, stdin: input, onStdout }) };
  });
  return await connectAgent(transport, { home, client, stderr: () => transport.stderr() });
}

/** Starts `promptrun mcp` from the build, as a program with agents starts it. */
export async function startAgentProcess(): Promise<Agent> {
  const home = createTemporaryDirectory();
  let stderr = '';
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, 'mcp'],
    env: buildCommandEnvironment(home),
    cwd: home,
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });

  return await connectAgent(transport, { home, stderr: () => stderr });
}

async function connectAgent(
  transport: Transport,
  {
    home,
    stderr,
    client: options,
  }: Pick<Agent, 'home' | 'stderr'> & { client?: ClientOptions | undefined },
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  onTestFinished(() => client.close());
  await client.connect(transport);

  return {
    client,
    home,
    stderr,
    call: async (name, args, of) =>
      (await client.callTool({ name, arguments: args }, of)) as unknown as ToolResult,
  };
}

type CommandHere = Pick<ReturnType<typeof startCommandHere>, 'stderr' | 'ended'> & {
  readonly input: PassThrough;
};

/** The streams of a command in this process, as a client's transport: a line each message. */
class TransportHere implements Transport {
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];
  readonly #command: CommandHere;
  #line = '';

  constructor(start: (onStdout: (piece: Buffer) => void) => CommandHere) {
    this.#command = start(piece => this.#read(piece));
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#command.input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#command.input.end();
    await this.#command.ended;
    this.onclose?.();
  }

  stderr(): string {
    return this.#command.stderr();
  }

  /** Takes what the command has written, whose pieces are whole characters. */
  #read(piece: Buffer): void {
    const lines = `${this.#line}${piece.toString()}`.split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) {
      // As another process would: after the command has gone on.
      setImmediate(() => this.onmessage?.(JSON.parse(line) as JSONRPCMessage));
    }
  }
}

/** The first message of a client of 2025, for sessions that are begun by hand. */
export const OPENING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
} as const;

/** Returns a call of `run_prompt` that wants its progress reported, as it goes over the wire. */
export function runCall(id: number, args: object): object {
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'run_prompt', arguments: args, _meta: { progressToken: id } },
  };
}
