import type { Command } from 'commander';
import { EXIT, type ExitCode } from './core/exit-codes.ts';
import { buildTree } from './program/command-tree.ts';
import { withDebugBody, withHelpLast } from './program/global-flags.ts';
import { HelpShown } from './program/wrong-usage.ts';
import type { HostEnvironment } from './runtime/create-context.ts';
import { createPlainIo, type PlainIo } from './terminal/io.ts';

/**
 * Runs a command line and returns its exit code, after all output is written.
 *
 * Help and version load only the tree; the code that runs commands and reports errors is loaded on
 * demand.
 */
export async function runCli(argv: readonly string[], host: HostEnvironment): Promise<ExitCode> {
  const { streams, env, version } = host;
  const io = createPlainIo(streams);
  const reportError = async (error: unknown): Promise<ExitCode> => {
    const errorReport = await import('./program/report-error.ts');
    return errorReport.reportError(error, argv, { io, stderr: streams.stderr, env });
  };

  const helpTexts: string[] = [];
  let exitCode: ExitCode = EXIT.ok;
  const tree = buildTree({
    version,
    writeHelp: text => helpTexts.push(text),
    terminal: { stream: streams.stdout, env },
    runAction: async (command, run) => {
      const { runAction } = await import('./program/run-action.ts');
      exitCode = await runAction({ command, run, host, io, reportError });
    },
  });

  try {
    await parseAndRun(tree, withDebugBody(withHelpLast(argv)));
    await showHelp(helpTexts.join(''), tree, io, host);
  } catch (error) {
    exitCode = await reportError(error);
  }

  streams.releaseStdin();
  return exitCode;
}

/** Prints help, through the pager if it is longer than the screen. */
async function showHelp(
  text: string,
  tree: Command,
  io: PlainIo,
  host: HostEnvironment,
): Promise<void> {
  const fitsOnScreen = text.split('\n').length <= io.stdout.rows;
  if (fitsOnScreen || !io.stdout.isTerminal) {
    await io.out(text);
    return;
  }

  const { showHelpInPager } = await import('./program/page-help.ts');
  await showHelpInPager(text, tree, io, host);
}

/** Parses the line and runs its command. Help, which ends parsing by an error, is a success. */
async function parseAndRun(tree: Command, argv: readonly string[]): Promise<void> {
  try {
    await tree.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof HelpShown)) throw error;
  }
}
