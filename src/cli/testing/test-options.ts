import type { Caps } from '../creation/caps.ts';
import type { Gate } from '../statistics/gate.ts';
import type { Repeating } from './cases/repetitions.ts';

export type Reporter = 'junit' | 'json' | 'github' | 'html' | 'markdown';

/** A report, and where it goes. */
export interface ReportOutput {
  readonly reporter: Reporter;
  /** Standard output if undefined. */
  readonly out: string | undefined;
}

/** How prompts are tested. */
export interface TestOptions {
  readonly paths: readonly string[];
  readonly filter: string | undefined;
  readonly models: readonly string[];
  readonly failed: boolean;
  readonly resume: boolean;
  readonly retryUnknown: boolean;
  readonly providerBatch: boolean;
  readonly cancel: boolean;
  readonly update: boolean;
  readonly judge: string | undefined;
  readonly allowCommands: boolean;
  /** True to leave out what is not supported. */
  readonly skipUnsupported: boolean;
  /** True if a test file may name files outside its folder. */
  readonly allowOutside: boolean;
  readonly watch: boolean;
  readonly dryRun: boolean;
  readonly repeating: Repeating;
  /** The report to compare with, as it was named. */
  readonly baseline: string | undefined;
  readonly gate: Gate;
  readonly caps: Caps;
  readonly outputs: readonly ReportOutput[];
  /** Creations open at a time; what suits the service if undefined. */
  readonly concurrency: number | undefined;
  /** Requests a second, 0 for no limit; what the service says if undefined. */
  readonly rate: number | undefined;
}
