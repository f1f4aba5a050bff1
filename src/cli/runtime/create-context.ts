import path from 'node:path';
import { sleep } from '../../utils/abort-signals.ts';
import type { Env } from '../../utils/env.ts';
import type { Connection, Context } from '../context.ts';
import type { Clock } from '../core/clock.ts';
import { getStopCause, TimeLimitError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { GlobalOptions } from '../core/global-options.ts';
import type { LocalService } from '../core/local-service.ts';
import type { Recordings } from '../recordings/recorder.ts';
import { usesLocalService } from '../settings/config/address.ts';
import { Journal } from '../settings/journal/journal.ts';
import { Settings } from '../settings/settings.ts';
import { createPaint, detectColourLevel } from '../terminal/colour.ts';
import { createCommandFormatter } from '../terminal/command-line.ts';
import { completeIo, type Io, type PlainIo, type Streams } from '../terminal/io.ts';
import {
  type ConnectionSources,
  connectTo,
  type OpenConnection,
  openConnection,
  openLocalConnection,
} from './connection.ts';
import { resolveDirectories } from './directories.ts';
import { endAfterGracePeriod, listenForInterrupts, type SignalSource } from './signals.ts';

/** Everything outside the command line; main.ts or a test provides it. */
export interface HostEnvironment {
  readonly version: string;
  readonly streams: Streams;
  readonly env: Env;
  readonly cwd: string;
  /** Default: the machine's clock and random numbers. */
  readonly clock?: Clock | undefined;
  readonly process: SignalSource;
  readonly local: LocalService;
}

export interface OpenContext {
  readonly ctx: Context;
  /** Runs deferred work, then closes everything. */
  readonly close: () => Promise<void>;
}

/**
 * Composes the context of a command, one line per service; creates what costs time on first use.
 */
export async function createContext(
  host: HostEnvironment,
  globals: GlobalOptions,
  plainIo: PlainIo,
  { needsHome = true }: { readonly needsHome?: boolean } = {},
): Promise<OpenContext> {
  const { env, cwd, clock = systemClock, process: signalSource, local, version } = host;
  const io = await createColouredIo(host, globals, plainIo);
  const { config, data: dataDir, state: stateDir } = resolveDirectories(env, cwd, { needsHome });
  const settings = new Settings(config, clock);

  const recordings = chooseRecordings(globals, env, cwd);
  const isReplay = recordings.mode === 'replay';
  const journal = new Journal(stateDir, clock, { isReadOnly: isReplay });

  const interrupts = listenForInterrupts(signalSource, clock);
  const timeLimit = startTimeLimit(clock, globals.timeoutMs, () =>
    endAfterGracePeriod(() => signalSource.exit(EXIT.waitTimeout)),
  );
  const signal = AbortSignal.any([interrupts.signal, timeLimit.signal]);

  const processes = createProcesses(signal);
  const sources = {
    modelsFile: globals.models === undefined ? undefined : path.resolve(cwd, globals.models),
    declaredModels: [],
    io,
    globals,
    env,
    cwd,
    clock,
    settings,
    local,
    version,
    dataDir,
    stateDir,
    journal,
    isReplay,
    signal,
    timeLeftMs: timeLimit.timeLeftMs,
    formatCommand: (...words) => createCommandFormatter(globals, env)(...words),
    recordings,
  } satisfies ConnectionSources & Partial<Context>;
  const connections = new OpenConnections(sources);
  const ctx: Context = {
    ...sources,
    onInterrupt: interrupts.onInterrupt,
    isInteractive:
      io.stderr.isTerminal && globals.input && !isVariableSet(env['CI']) && io.stdin.isTerminal,
    connection: () => connections.openConfigured(),
    localConnection: onlyPart => connections.openLocal(onlyPart),
    connectTo: peer => connections.connectTo(peer),
    checks: processes.checks,
    nodeChecks: processes.nodeChecks,
    renewModels: async () => {
      await processes.endIdle();
      await connections.renewModels();
    },
    promptTasks: processes.promptTasks,
    prompter: async () =>
      (await import('../questions/prompter.ts')).createPrompter({ io, env, cwd }),
  };

  return {
    ctx,
    close: async () => {
      await processes.close();
      timeLimit.stop();
      await journal.close();

      try {
        await connections.close(ctx);
      } finally {
        interrupts.uninstall();
      }
    },
  };
}

/** Returns functions that start the processes for checks and prompts at first use, and end them. */
function createProcesses(signal: AbortSignal) {
  const checks = openOnce(async () => {
    const { CheckRunner } = await import('../checks/check-runner.ts');
    return new CheckRunner(signal);
  });
  const nodeChecks = openOnce(async () => {
    const { NodeChecks } = await import('../checks/node-checks.ts');
    return new NodeChecks();
  });
  const promptTasks = openOnce(async () => {
    const { SharedTasks } = await import('../../prompts/tasks/prompt-tasks.ts');
    return new SharedTasks({ isForOneUser: true });
  });

  const endIdle = async (): Promise<void> => {
    await (await nodeChecks.getOpened())?.endIdle();
  };
  return {
    checks: checks.open,
    nodeChecks: nodeChecks.open,
    promptTasks: promptTasks.open,
    endIdle,
    close: async (): Promise<void> => {
      (await checks.getOpened())?.close();
      await endIdle();
      await (await promptTasks.getOpened())?.close();
    },
  };
}

/**
 * Opens something at its first use, and then returns it again. `getOpened` returns undefined before
 * that.
 */
function openOnce<T>(openFirst: () => Promise<T>): {
  readonly open: () => Promise<T>;
  readonly getOpened: () => Promise<T> | undefined;
} {
  let opened: Promise<T> | undefined;
  return { open: () => (opened ??= openFirst()), getOpened: () => opened };
}

/** The machine's clock and random numbers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep,
};

/**
 * Returns the time left and, if there is a limit, a signal that is aborted with a `TimeLimitError`
 * at its end.
 *
 * @param onTimeUp called after that
 */
function startTimeLimit(
  clock: Clock,
  limitMs = Number.POSITIVE_INFINITY,
  onTimeUp: () => void = () => {},
): { readonly signal: AbortSignal; readonly timeLeftMs: () => number; readonly stop: () => void } {
  const timeUp = new AbortController();
  const limitStopped = new AbortController();
  const endsAt = clock.now() + limitMs;

  if (Number.isFinite(limitMs)) {
    const end = (): void => {
      timeUp.abort(new TimeLimitError());
      onTimeUp();
    };
    clock.sleep(limitMs, limitStopped.signal).then(end, () => {});
  }

  return {
    signal: timeUp.signal,
    timeLeftMs: () => Math.max(0, endsAt - clock.now()),
    stop: () => limitStopped.abort(),
  };
}

async function createColouredIo(
  { streams, env }: HostEnvironment,
  globals: GlobalOptions,
  plainIo: PlainIo,
): Promise<Io> {
  const [paint, paintErr] = await Promise.all([
    createPaint(detectColourLevel(streams.stdout, env, { isAllowed: globals.color })),
    createPaint(detectColourLevel(streams.stderr, env, { isAllowed: globals.color })),
  ]);
  return completeIo(plainIo, { quiet: globals.quiet, paint, paintErr });
}

/** The connections of a command, each opened at its first use. */
class OpenConnections {
  readonly #sources: ConnectionSources;
  readonly #openings: Promise<OpenConnection>[] = [];
  #configured: Promise<Connection> | undefined;
  #local: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(sources: ConnectionSources) {
    this.#sources = sources;
  }

  openConfigured(): Promise<Connection> {
    this.#configured ??= this.#open(() => openConnection(this.#sources));
    return this.#configured;
  }

  openLocal(onlyPart?: string): Promise<Connection> {
    this.#local ??= usesLocalService(this.#sources)
      ? this.openConfigured()
      : this.#open(() => openLocalConnection(this.#sources, onlyPart));
    return this.#local;
  }

  connectTo(peer: Parameters<Context['connectTo']>[0]): Promise<Connection> {
    return this.#open(() => connectTo(this.#sources, { ...peer, keySource: undefined }));
  }

  async renewModels(): Promise<void> {
    for (const { connection } of await this.#listOpened()) {
      await connection.inProcessRuns?.reloadModels();
    }
  }

  /** Runs deferred refreshes, unless the command was interrupted, and closes the connections. */
  async close({ signal, timeLeftMs }: Pick<Context, 'signal' | 'timeLeftMs'>): Promise<void> {
    this.#isClosed = true;
    const faults: unknown[] = [];
    for (const { connection, close } of await this.#listOpened()) {
      if (!signal.aborted) await connection.resources.refreshIfRequested(signal, timeLeftMs());
      const cause = signal.aborted ? getStopCause(signal.reason) : undefined;
      await close(cause).catch((error: unknown) => faults.push(error));
    }

    if (faults.length > 0) throw faults[0];
  }

  async #open(open: () => Promise<OpenConnection>): Promise<Connection> {
    // An abandoned command continues after `close`, and nothing would close what it opens.
    if (this.#isClosed) throw new Error('the command has ended');
    const opening = open();
    this.#openings.push(opening);
    return (await opening).connection;
  }

  async #listOpened(): Promise<OpenConnection[]> {
    const results = await Promise.allSettled(this.#openings);
    return results.flatMap(result => (result.status === 'fulfilled' ? result.value : []));
  }
}

/** Returns true if a variable is set; some set `CI=false` to say no. */
function isVariableSet(variable: string | undefined): boolean {
  return variable !== undefined && !['', '0', 'false'].includes(variable);
}

/**
 * Reads `--record` and `--replay`, or `PROMPTRUN_RECORD` and `PROMPTRUN_REPLAY`; flags win, except
 * that `--record` does not make a run paid that the environment asks to replay.
 *
 * @throws {CliError} USAGE_ERROR if both are set
 */
function chooseRecordings(
  { record, replay }: Pick<GlobalOptions, 'record' | 'replay'>,
  env: Env,
  cwd: string,
): Recordings {
  const isFlag = record !== undefined || replay !== undefined;
  const recordDirectory = isFlag ? record : env['PROMPTRUN_RECORD'] || undefined;
  const replayDirectory = replay ?? (env['PROMPTRUN_REPLAY'] || undefined);
  if (recordDirectory !== undefined && replayDirectory !== undefined) {
    const names = [
      record === undefined ? 'PROMPTRUN_RECORD' : '--record',
      replay === undefined ? 'PROMPTRUN_REPLAY' : '--replay',
    ];
    const hints = ['A replay sends nothing, so there is nothing to record: use one of them.'];
    if (replay === undefined) hints.push('To record, unset PROMPTRUN_REPLAY.');
    throw usageError(`${names.join(' and ')} can't be used together`, ...hints);
  }

  if (recordDirectory !== undefined) {
    return { mode: 'record', directory: path.resolve(cwd, recordDirectory) };
  }

  if (replayDirectory !== undefined) {
    return { mode: 'replay', directory: path.resolve(cwd, replayDirectory) };
  }

  return { mode: 'none' };
}
