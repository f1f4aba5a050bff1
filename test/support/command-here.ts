import type { LocalService } from '../../src/cli/core/local-service.ts';
import type { Clock } from '../../src/cli/core/types.ts';
import { systemClock } from '../../src/cli/runtime/create-context.ts';
import { startEmbedded } from '../../src/service/embedded.ts';
import { withStore } from '../../src/service/local-store.ts';
import { startService } from '../../src/service/start-service.ts';
import type { CommandOptions, CommandOutcome } from './command.ts';
import { runInProcess, temporaryDirectory } from './context.ts';
import { commandEnvironment } from './environment.ts';

interface HereOptions extends Pick<CommandOptions, 'env' | 'home'> {
  readonly stdin?: string;
  /** Of the command and of the service in it; default the system's. */
  readonly clock?: Clock;
}

/** The machine's time, so many times as fast: what waits keeps its order. */
export function fastClock(times: number): Clock {
  const startedAt = Date.now();
  return {
    ...systemClock,
    now: () => startedAt + (Date.now() - startedAt) * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

/**
 * Runs a command to its end as `runCommand` does, but in this process, which takes a fraction of the time. For commands
 * that no signal ends and whose runs don't outlive them.
 */
export async function runCommandHere(
  words: readonly string[],
  { env = {}, home = temporaryDirectory(), stdin = '', clock = systemClock }: HereOptions = {},
): Promise<CommandOutcome> {
  const all = commandEnvironment(home, env);
  const local: LocalService = {
    start: options => startEmbedded({ ...options, env: all, clock }),
    serve: options => startService({ ...options, env: all }),
    withStore: (options, use) => withStore({ ...options, env: all }, use),
  };
  const ran = await runInProcess(words, { home, env, stdin, local, clock });
  return {
    stdout: ran.stdout(),
    stdoutBytes: ran.stdoutBytes(),
    stderr: ran.stderr(),
    code: ran.exitCode,
    signal: null,
    home,
  };
}
