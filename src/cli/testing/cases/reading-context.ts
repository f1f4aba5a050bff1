import type { NamingFolder } from '../../inputs/named-file.ts';
import type { ExpectationsContext } from '../expectations/read-expectations.ts';
import type { TargetCheck } from './target-check.ts';

/** The options for reading test files. */
export interface TestFileOptions extends Pick<NamingFolder, 'allowOutside'> {
  readonly mayTarget: TargetCheck;
  /** True if the command line names models. */
  readonly hasModels: boolean;
  /** True to keep each case's text in the file. Default false. */
  readonly watch?: boolean;
  /** True if the user's own programs may run. */
  readonly allowCommands: boolean;
  readonly skipUnsupported: boolean;
  /** The model that `--judge` names. */
  readonly judgeModel?: string | undefined;
}

export interface ReadingContext extends ExpectationsContext, TestFileOptions {
  /** The contents of files that inputs name, by path, because many cases may name the same one. */
  readonly inputFileTexts: Map<string, string>;
}
