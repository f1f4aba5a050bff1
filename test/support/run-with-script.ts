import { onTestFinished } from 'vitest';
import { runInProcess, type TestOptions } from './context.ts';
import { type Exchange, type ScriptedService, startScriptedService } from './scripted-service.ts';

export interface ScriptedOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly service: ScriptedService;
  readonly home: string;
}

/**
 * Runs a command line in this process against a scripted service, whose script it must have
 * followed.
 */
export async function runWithScript(
  script: readonly Exchange[],
  argv: readonly string[] | ((baseUrl: string) => readonly string[]),
  options: TestOptions & { readonly isOrdered?: boolean } = {},
): Promise<ScriptedOutcome> {
  const service = await startScriptedService(script, options);
  onTestFinished(() => service.close());
  const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key', ...options.env };
  const { stdout, stderr, exitCode, home } = await runInProcess(
    typeof argv === 'function' ? argv(service.baseUrl) : argv,
    { ...options, env },
  );
  service.verify();

  return { stdout: stdout(), stderr: stderr(), exitCode, service, home };
}
