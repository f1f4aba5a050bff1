import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { CliError, InterruptedError, toTimeLimitError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { createContext, type HostEnvironment } from '../runtime/create-context.ts';
import type { PlainIo } from '../terminal/io.ts';
import { readGlobalOptions } from './global-flags.ts';

/** Time that an interrupted command has to stop, in milliseconds. */
const GRACE_PERIOD_MS = 1500;

/** A command whose line has been parsed. */
export interface ParsedCommand {
  readonly command: Command;
  readonly run: (ctx: Context) => Promise<ExitCode>;
  readonly host: HostEnvironment;
  readonly io: PlainIo;
  readonly reportError: (error: unknown) => Promise<ExitCode>;
}

/** The commands that work without a home directory, because they keep nothing there. */
const COMMANDS_WITHOUT_HOME = ['completion', '__complete', 'uninstall'];

/** Runs a command in its own context. Reports its error before it closes the context. */
export async function runAction({
  command,
  run,
  host,
  io,
  reportError,
}: ParsedCommand): Promise<ExitCode> {
  const globals = readGlobalOptions(command);
  const needsHome = !COMMANDS_WITHOUT_HOME.includes(command.name());
  const { ctx, close } = await createContext(host, globals, io, { needsHome });

  const code = await runForExitCode(ctx, run, reportError);
  try {
    await close();
    return code;
  } catch (error) {
    // An error while closing outranks a failed run, and nothing else.
    const isOutranked = code === EXIT.ok || code === EXIT.runFailed;
    return isOutranked ? await reportError(error) : code;
  }
}

async function runForExitCode(
  ctx: Context,
  run: ParsedCommand['run'],
  reportError: ParsedCommand['reportError'],
): Promise<ExitCode> {
  try {
    await checkQueryFlag(ctx);
    return await withGracePeriod(ctx.signal, run(ctx));
  } catch (error) {
    if (ctx.signal.aborted && !isStopError(error)) return await reportError(ctx.signal.reason);
    return await reportError(toTimeLimitError(error, ctx.timeLeftMs()) ?? error);
  }
}

function isStopError(error: unknown): boolean {
  return (
    error instanceof InterruptedError ||
    (error instanceof CliError && error.exitCode === EXIT.waitTimeout)
  );
}

/** Finds a typo in `--query` before anything is sent, so that it costs nothing. */
async function checkQueryFlag(ctx: Context): Promise<void> {
  const { query } = ctx.globals;
  if (query === undefined) return;
  const { checkQuery } = await import('../outputs/json-query.ts');
  await checkQuery(ctx, query);
}

/**
 * Returns the result of a command. After an interrupt it has a short time to stop; then it is
 * abandoned.
 */
async function withGracePeriod<T>(signal: AbortSignal, action: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const graceExpired = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => reject(signal.reason as Error), GRACE_PERIOD_MS);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

  return Promise.race([action, graceExpired]).finally(() => {
    clearTimeout(timer);
    // Node keeps a signal that follows others, and everything that its listeners refer to, as long
    // as it has listeners.
    signal.removeEventListener('abort', onAbort);
  });
}
