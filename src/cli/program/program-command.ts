import type { Command } from 'commander';
import type { HelpTerminal } from '../commands/help/help.ts';
import type { Context } from '../context.ts';
import type { CommandSpec, CommandTable, InputOf } from '../core/command-spec.ts';
import type { ExitCode } from '../core/exit-codes.ts';

/**
 * The code of a command; gets the context, each argument, the flags and commander's command. No
 * exit code means success.
 */
type CommandFunction<S extends CommandSpec> = (
  ctx: Context,
  ...input: [...InputOf<S>, command: Command]
) => Promise<ExitCode> | Promise<void>;

/** A declared command with its code; a command without code prints the help of its subcommands. */
export interface ProgramCommand extends CommandSpec {
  readonly run?: (
    ctx: Context,
    input: readonly unknown[],
    command: Command,
  ) => Promise<ExitCode | undefined>;
  /** The code of a command that needs only its argv. */
  readonly explain?: (
    words: readonly string[],
    command: Command,
    terminal: HelpTerminal,
  ) => Promise<void>;
}

export interface ProgramTable extends CommandTable {
  readonly commands: readonly ProgramCommand[];
}

/**
 * Joins a declaration to the function of a file whose parameters match it. Loads the file when the
 * command is called.
 */
export function defineCommand<const S extends CommandSpec, const Name extends string>(
  spec: S,
  loadFile: () => Promise<Readonly<Record<Name, CommandFunction<S>>>>,
  name: Name,
): ProgramCommand {
  return {
    ...spec,
    async run(ctx, input, command) {
      const { [name]: action } = await loadFile();
      // Commander parsed the line by this declaration, so the types match.
      return (await action(ctx, ...(input as InputOf<S>), command)) ?? undefined;
    },
  };
}
