import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../src/cli/core/clock.ts';
import type { LocalService } from '../../src/cli/core/local-service.ts';
import { systemClock } from '../../src/cli/runtime/create-context.ts';
import { startEmbedded } from '../../src/service/embedded.ts';
import { withStore } from '../../src/service/local-store.ts';
import { startService } from '../../src/service/start-service.ts';
import { isStoreInUse } from '../../src/service/store/sqlite/locked-workers.ts';
import type { CommandOptions, CommandOutcome } from './command.ts';
import {
  type Captured,
  createTemporaryDirectory,
  startInProcess,
  type TestOptions,
} from './context.ts';
import { buildCommandEnvironment } from './environment.ts';

interface HereOptions
  extends Pick<CommandOptions, 'env' | 'home'>,
    Pick<TestOptions, 'stdin' | 'onStdout'> {
  /** The clock of the command and of the service in it; default the system's. */
  readonly clock?: Clock;
}

/** Returns a clock that runs so many times as fast as the machine's; waits keep their order. */
export function createFastClock(times: number): Clock {
  const startedAt = Date.now();
  return {
    ...systemClock,
    now: () => startedAt + (Date.now() - startedAt) * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

/** A command in this process. */
interface CommandHere extends Pick<Captured, 'stderr' | 'raise'> {
  readonly ended: Promise<CommandOutcome>;
}

/**
 * Starts a command as `startCommand` does, but in this process, which takes a fraction of the time.
 * For commands whose runs don't outlive them.
 */
export function startCommandHere(
  argv: readonly string[],
  {
    env = {},
    home = createTemporaryDirectory(),
    stdin = '',
    clock = systemClock,
    onStdout,
  }: HereOptions = {},
): CommandHere {
  const local = createLocalServiceIn(home, env, clock);
  const { ended, stdout, stdoutBytes, stderr, raise } = startInProcess(argv, {
    home,
    env,
    stdin,
    local,
    clock,
    ...(onStdout && { onStdout }),
  });

  const getOutcome = async (): Promise<CommandOutcome> => {
    const code = await ended;
    return {
      stdout: stdout(),
      stdoutBytes: stdoutBytes(),
      stderr: stderr(),
      code,
      signal: null,
      home,
    };
  };

  return { stderr, raise, ended: getOutcome() };
}

/** Runs a command to its end in this process. */
export function runCommandHere(
  argv: readonly string[],
  options: HereOptions = {},
): Promise<CommandOutcome> {
  return startCommandHere(argv, options).ended;
}

/** A `serve` in this process. */
export interface ServingHere {
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** Empty if it made none. */
  readonly key: string;
  /** Ends it as SIGTERM does, once; resolves with its exit code. */
  readonly stop: () => Promise<number>;
}

/**
 * Starts `serve` on a free port in this process; it is stopped at the end of the test at the
 * latest.
 */
export async function serveHere(
  flags: readonly string[] = [],
  { env = {}, home = createTemporaryDirectory() }: Pick<HereOptions, 'env' | 'home'> = {},
): Promise<ServingHere> {
  const local = createLocalServiceIn(home, env, systemClock);
  const argv = ['serve', '--port', '0', ...flags];

  const { ended, stdout, stderr, raise } = startInProcess(argv, {
    home,
    env,
    local,
    clock: systemClock,
  });
  const stop = async (): Promise<number> => {
    raise('SIGTERM');
    return await ended;
  };

  onTestFinished(async () => void (await stop()));
  const isUp = (): boolean => /^page: /m.test(stdout());

  let isOver = false;
  const end = (): void => {
    isOver = true;
  };

  void ended.then(end, end);
  await expect.poll(() => isUp() || isOver).toBe(true);

  if (!isUp()) throw new Error(`serve has ended: ${stderr()}`);

  const readLine = (pattern: RegExp): string => pattern.exec(stdout())?.[1] ?? '';
  return { baseUrl: readLine(/^listening on (\S+)$/m), key: readLine(/^key: (\S+)$/m), stop };
}

function createLocalServiceIn(
  home: string,
  env: Readonly<Record<string, string>>,
  clock: Clock,
): LocalService {
  const fullEnv = buildCommandEnvironment(home, env);
  return {
    start: options => startEmbedded({ ...options, env: fullEnv, clock }),
    serve: options => startService({ ...options, env: fullEnv }),
    withStore: (options, use) => withStore({ ...options, env: fullEnv }, use),
    isInUse: isStoreInUse,
  };
}
