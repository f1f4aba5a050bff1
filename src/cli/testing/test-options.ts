import type { Caps } from '../creation/spending/caps.ts';
import type { TestGate } from '../statistics/verdict-gate.ts';
import type { RepeatOptions } from './cases/repeat-cases.ts';

export type Reporter = 'junit' | 'json' | 'github' | 'html' | 'markdown';

/** A report that the user asked for. */
export interface ReportOutput {
  readonly reporter: Reporter;
  /** The file to write; standard output if undefined. */
  readonly out: string | undefined;
}

/** The flags of `promptrun test`, checked. */
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
  readonly judgeModel: string | undefined;
  readonly allowCommands: boolean;
  readonly skipUnsupported: boolean;
  /** True if a test file may name files outside its folder. */
  readonly allowOutside: boolean;
  readonly watch: boolean;
  readonly dryRun: boolean;
  readonly repeating: RepeatOptions;
  /** The path of the report to compare with, as on the command line. */
  readonly baselinePath: string | undefined;
  readonly gate: TestGate;
  readonly caps: Caps;
  readonly outputs: readonly ReportOutput[];
  /** Maximum number of open creations; the service's default if undefined. */
  readonly concurrency: number | undefined;
  /** Requests per second, 0 for no limit; the service's limit if undefined. */
  readonly rate: number | undefined;
}
