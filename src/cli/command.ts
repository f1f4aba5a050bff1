import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { ExitCode } from './exit-codes.ts';

/** What the command tree gives a command file. */
export interface Host {
  /** Runs the command in the context of the parsed global flags and keeps its exit code. */
  act(command: Command, run: (ctx: Context) => Promise<ExitCode>): Promise<void>;
  /** Declares another command of the tree without running it, for who has to know its flags. */
  declare(command: Command): Promise<void>;
}

/** Declares a command's arguments, flags, help and action on the stub that the command tree made for it. */
export type Declare = (command: Command, host: Host) => void;
