import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { COMMAND } from './command.ts';
import { temporaryDirectory } from './context.ts';
import { commandEnvironment } from './environment.ts';

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

/** Starts `promptrun mcp` from the build and returns a client of it, which is closed with the test. */
export async function startAgent(
  flags: readonly string[] = [],
  {
    home = temporaryDirectory(),
    env = {},
    client: options,
  }: { home?: string; env?: Readonly<Record<string, string>>; client?: ClientOptions } = {},
): Promise<Agent> {
  let stderr = '';
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
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  onTestFinished(() => client.close());
  await client.connect(transport);
  return {
    client,
    home,
    stderr: () => stderr,
    call: async (name, args, of) =>
      (await client.callTool({ name, arguments: args }, of)) as unknown as ToolResult,
  };
}

/** The first message of a client of 2025, for sessions that are begun by hand. */
export const OPENING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
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
