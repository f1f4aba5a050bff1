import type { Run } from '../../../../src/wire/index.ts';
import { KEY } from '../../../support/client.ts';
import {
  type CommandResult,
  runInProcess,
  startInProcess,
  type TestOptions,
} from '../../../support/context.ts';
import { type Exchange, type ScriptedService, success } from '../../../support/scripted-service.ts';

export const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
export const PROMPT = '7f1d2a0c-1b1f-4f43-8d3b-0f6f2c0d9a11';
export const RUN = '5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
export const OTHER_RUN = '6f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a66';

/** Runs a command line against a service. */
export function runAgainst(
  service: ScriptedService,
  argv: readonly string[],
  options: TestOptions = {},
): Promise<CommandResult> {
  return runInProcess(argv, withService(service, options));
}

export function startAgainst(
  service: ScriptedService,
  argv: readonly string[],
  options: TestOptions = {},
): ReturnType<typeof startInProcess> {
  return startInProcess(argv, withService(service, options));
}

function withService(service: ScriptedService, options: TestOptions): TestOptions {
  return {
    ...options,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY, ...options.env },
  };
}

export function textOutput(data: string): Run['outputs'][number] {
  return { type: 'text', data };
}

export function succeededRun(more: Partial<Run> & Record<string, unknown> = {}): Run {
  return {
    runId: RUN,
    outputs: [textOutput('Hello, Ada!')],
    runStatus: 'succeeded',
    tokens: 3,
    ...more,
  };
}

/** Returns a run with these fields, which may break the interface. */
export function malformedRun(fields: Record<string, unknown>): Run {
  return { ...succeededRun(), ...fields };
}

/** Returns the creation of a run, answered at once. */
export function creation(run: Run = succeededRun(), body?: object): Exchange {
  return { expect: { method: 'POST', path: '/runs', ...(body && { body }) }, answer: success(run) };
}
