import type { Caps } from '../creation/caps.ts';
import type { ReportOutput } from './report-outputs.ts';

/** How prompts are tested. */
export interface TestOptions {
  /** Test files and directories; the working directory where there are none. */
  readonly paths: readonly string[];
  /** Words that must all be in a case's file or name. */
  readonly filter: string | undefined;
  /** Every case runs with each, in place of the models of its file; empty for those. */
  readonly models: readonly string[];
  /** Only cases that did not pass when they were last run. */
  readonly failed: boolean;
  readonly resume: boolean;
  /** With `resume`: what may have made a run is created again. */
  readonly retryUnknown: boolean;
  readonly update: boolean;
  readonly judge: string | undefined;
  /** Whether the programs that test files name may run. */
  readonly allowCommands: boolean;
  /** Whether test files may name files outside of their folders. */
  readonly allowOutside: boolean;
  readonly outputs: readonly ReportOutput[];
  /** Runs the cases that a change concerns again, until it is ended. */
  readonly watch: boolean;
  /** Checks everything, tells what the runs would cost, and creates none. */
  readonly dryRun: boolean;
  readonly caps: Caps;
  /** Creations open at a time; what suits the service if undefined. */
  readonly concurrency: number | undefined;
  /** Requests a second, 0 for no limit; what the service says if undefined. */
  readonly rate: number | undefined;
}
