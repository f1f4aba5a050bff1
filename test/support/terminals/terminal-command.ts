import { onTestFinished } from 'vitest';
import { COMMAND } from '../command.ts';
import { createTemporaryDirectory } from '../context.ts';
import { buildCommandEnvironment } from '../environment.ts';
import {
  type Exchange,
  type ScriptedService,
  startScriptedService,
  success,
} from '../scripted-service.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

export interface OnTerminalOptions {
  /** Added to a bare environment whose directories are the test's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The test's directory and the working directory; a new one by default. */
  readonly home?: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** Starts the built command on its own terminal, and ends it with the test. */
export function onTerminal(args: readonly string[], options: OnTerminalOptions = {}): TestTerminal {
  const { env = {}, home = createTemporaryDirectory(), ...size } = options;
  const terminal = openTerminal({
    ...size,
    file: process.execPath,
    args: [COMMAND, ...args],
    cwd: home,
    env: buildCommandEnvironment(home, env),
  });
  onTestFinished(() => terminal.kill('SIGKILL'));
  return terminal;
}

export const VERSION_ID = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
export const RUN_ID = '7d1f3a52-9f0c-4d0e-8a68-0c1f4f1e2b3a';

/** Starts a service with one prompt version of this config, whose runs return their inputs. */
export async function startServiceWithPrompt(
  config: unknown,
  ...more: readonly Exchange[]
): Promise<{ service: ScriptedService; env: Record<string, string>; sentInputs: () => unknown }> {
  const version = { promptVersionId: VERSION_ID, promptId: VERSION_ID, title: 'A prompt', config };
  const service = await startScriptedService(
    [
      ...more,
      {
        expect: { method: 'GET', path: `/prompt-versions/${VERSION_ID}` },
        answer: success({ ...version, publishedAt: '2025-01-02T03:04:05.000Z' }),
        times: 'any',
      },
      {
        expect: { method: 'POST', path: '/runs' },
        answer: success({
          runId: RUN_ID,
          runStatus: 'succeeded',
          tokens: 1,
          outputs: [{ type: 'text', data: 'The end.' }],
        }),
        times: 'any',
      },
    ],
    { isOrdered: false },
  );
  onTestFinished(() => service.close());

  return {
    service,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' },
    sentInputs: () => {
      const body = service.calls.findLast(call => call.method === 'POST')?.body;
      return (body as { inputs?: unknown } | undefined)?.inputs;
    },
  };
}

/** Returns a creation that is answered when the test says so. */
export function createSlowCreation(): {
  exchange: Exchange;
  arrived: Promise<void>;
  answer: () => void;
} {
  let answer = (): void => {};
  let arrive = (): void => {};
  const released = new Promise<void>(resolve => (answer = resolve));
  const arrived = new Promise<void>(resolve => (arrive = resolve));
  const outputs = [{ type: 'text', data: 'At last.' }];
  const run = success({ runId: RUN_ID, runStatus: 'succeeded', tokens: 1, outputs });
  const exchange = {
    expect: { method: 'POST' },
    answer: async () => {
      arrive();
      await released;
      return run;
    },
    times: 'any' as const,
  };

  return { exchange, arrived, answer };
}
