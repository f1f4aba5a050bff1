import type { Command } from 'commander';
import type { Context } from './context.ts';
import { createContext, type Surroundings } from './create-context.ts';
import { Interrupted } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { failureOf } from './failure.ts';
import { globalOptions, wantsJsonErrors } from './globals.ts';
import { type PlainIo, plainIo } from './io.ts';
import { HelpShown } from './parsing.ts';
import { reportFailure } from './report.ts';
import { buildTree } from './tree.ts';

/** How long an interrupted command may take to let go of what it does, in milliseconds. */
const UNWINDING_MS = 3000;

/** Runs one command line and gives its exit code; what it printed and told has gone out by then. */
export async function runCli(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const io = plainIo(surroundings.streams);
  const tell = teller(io, argv);
  const help: string[] = [];
  let exitCode: ExitCode = EXIT.ok;
  const tree = buildTree({
    version: surroundings.version,
    columns: io.stdout.columns,
    write: text => help.push(text),
    host: {
      act: async (command, run) => {
        exitCode = await act(command, run, surroundings, io, tell);
      },
    },
  });
  try {
    await tree.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof HelpShown)) exitCode = tell(error);
  }
  await io.out(help.join(''));
  surroundings.streams.releaseStdin();
  return exitCode;
}

type Tell = (error: unknown) => ExitCode;

/** Tells an error in the form the arguments ask for and gives the exit code it means. */
function teller(io: PlainIo, argv: readonly string[]): Tell {
  return error => {
    const failure = failureOf(error);
    reportFailure(io, failure, { json: wantsJsonErrors(argv), debug: argv.includes('--debug'), error });
    return failure.exitCode;
  };
}

/** Runs a command in a context of its own. The result, or the error, is out before what waited for it is done. */
async function act(
  command: Command,
  run: (ctx: Context) => Promise<ExitCode>,
  surroundings: Surroundings,
  io: PlainIo,
  tell: Tell,
): Promise<ExitCode> {
  const { ctx, close } = await createContext(surroundings, globalOptions(command), io);
  try {
    await checkGlobals(ctx);
    return await unlessStuck(ctx.signal, run(ctx));
  } catch (error) {
    return tell(ctx.signal.aborted && !(error instanceof Interrupted) ? ctx.signal.reason : error);
  } finally {
    await close();
  }
}

/** Finds a typo in `--query` before anything is sent, so that it costs nothing. */
async function checkGlobals({ globals }: Context): Promise<void> {
  if (globals.query === undefined) return;
  const { checkQuery } = await import('./outputs/query.ts');
  await checkQuery(globals.query);
}

/** What a command gives; once it is interrupted, it has a moment to stop, then it is left alone. */
async function unlessStuck<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(signal.reason), UNWINDING_MS);
    });
  });
  return Promise.race([running, stuck]).finally(() => clearTimeout(timer));
}
