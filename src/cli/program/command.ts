import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { CommandSpec, CommandTable, InputOf } from '../core/command-spec.ts';
import type { ExitCode } from '../exit-codes.ts';

/** What a command does with the context, each argument, the flags, and commander's command; no exit code means success. */
type Action<S extends CommandSpec> = (
  ctx: Context,
  ...input: [...InputOf<S>, command: Command]
) => Promise<ExitCode> | Promise<void>;

/** A declared command with what it does; without that, it explains the commands below it. */
export interface ProgramCommand extends CommandSpec {
  readonly run?: (ctx: Context, input: readonly unknown[], command: Command) => Promise<ExitCode | undefined>;
  /** What it does if it needs nothing but the words on the command line. */
  readonly explain?: (words: readonly string[], command: Command) => Promise<void>;
}

export interface ProgramTable extends CommandTable {
  readonly commands: readonly ProgramCommand[];
}

/** Joins a declaration to code that takes just what it declares. The code is loaded when the command is called. */
export function command<const S extends CommandSpec>(
  spec: S,
  load: () => Promise<Action<S>>,
): ProgramCommand {
  return {
    ...spec,
    async run(ctx, input, command) {
      const action = await load();
      // Commander parsed the line by this very declaration.
      return (await action(ctx, ...(input as InputOf<S>), command)) ?? undefined;
    },
  };
}
