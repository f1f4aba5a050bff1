import type { FilePosition } from '../../../files/formats/file-fault.ts';
import type { JsonObject, JsonValue } from '../../../files/formats/json.ts';
import type { ConvertedTurn, PromptTemplate } from '../../../prompts/foreign/converted-prompt.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { CliError } from '../../core/errors.ts';
import type { UnplacedImage } from '../../inputs/images/place-images.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import type { Expectation } from '../expectations/expectation.ts';
import type { PassRule } from './pass-rule.ts';

/** A case that runs after others, because its prompt may depend on their answers. */
export interface TestTurn extends ConvertedTurn {
  /** The number of its prompt in the configuration. */
  readonly promptNumber: number;
  /** The number of the case among those of its prompt. */
  readonly index: number;
  readonly template: PromptTemplate;
  readonly vars: JsonObject;
}

/** Maximum size of a test file, in bytes. */
export const MAX_TEST_FILE_BYTES = 8 * 1024 * 1024;

/** A test file, or the tests of one prompt of a promptfoo configuration. */
export interface TestFile {
  /** The absolute path. */
  readonly path: string;
  /** The path relative to the working directory, for reports and messages. */
  readonly name: string;
  /** The absolute path of a prompt file, or another target of `run`. */
  readonly target: string;
  /** The text of a prompt without its own file; `target` is the file that contains it. */
  readonly promptText?: string;
  /** The models to run every case with. */
  readonly models: readonly TestedModel[];
  readonly cases: readonly TestCase[];
  /** The cases to run and those that are not chosen, in order; undefined if all are chosen. */
  readonly allCases?: readonly TestCase[];
  /** The number of cases that have no equivalent and don't run. */
  readonly leftOutCaseCount?: number;
  /** Maximum number of open creations, unless `--concurrency` sets it. */
  readonly maxConcurrency?: number | undefined;
  /** True if code sees answers and contexts as in promptfoo. */
  readonly isAsPromptfoo?: boolean;
}

/** Returns a file with only the cases that `isChosen` accepts. */
export function withChosenCases(
  file: TestFile,
  isChosen: (testCase: TestCase) => boolean,
): TestFile {
  const { cases, allCases = cases } = file;
  const chosen = cases.filter(isChosen);
  return chosen.length === cases.length ? file : { ...file, cases: chosen, allCases };
}

/** A model that cases run with. */
export interface TestedModel {
  /** undefined for the prompt's own model. */
  readonly model: string | undefined;
  /** The config to use instead of the prompt's. */
  readonly config?: JsonObject;
  /** Code that transforms the model's answers before any other code. */
  readonly transform?: JavaScript;
  /** True if its answers are the whole results of a provider of promptfoo, as JSON. */
  readonly givesResults?: boolean;
  /** The number among models with the same name in the file, from 2. */
  readonly number?: number;
}

/** A case of a test file. */
export interface TestCase {
  readonly name: string;
  /**
   * True if its name is only its position in the file, which changes if cases are inserted before
   * it.
   */
  readonly isNumbered?: true;
  /** The case's line in the test file. */
  readonly line: number;
  /** The text inputs by name. */
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly UnplacedImage[];
  /** The folder of images that its texts name; undefined if they name none. */
  readonly folder?: NamingFolder;
  /** The run options by key. */
  readonly options: ReadonlyMap<string, string>;
  /** The expectations; empty if the run only has to succeed. */
  readonly expectations: readonly Expectation[];
  /** Number of runs; the maximum if the case runs until decided. */
  readonly repeat: number;
  readonly passRule: PassRule;
  /** The place of the rule in the file; undefined if it is the default. */
  readonly passRulePlace?: FilePosition;
  /** True to run it only until its answers decide if it passes at the required rate. */
  readonly runsUntilDecided?: true;
  /**
   * Values for the placeholders of `llm`, in addition to the inputs; the prompt never sees them.
   */
  readonly placeholderValues?: ReadonlyMap<string, string>;
  /** Values for expectations, in addition to the inputs; the prompt never sees them. */
  readonly vars?: Readonly<Record<string, JsonValue>>;
  /** The value that code sees as `context.test.metadata`. */
  readonly metadata?: JsonValue;
  /** Code that transforms the answer before it is checked. */
  readonly transform?: JavaScript;
  /** True to trim the answer before expectations see it. */
  readonly trims?: boolean;
  /** The absolute paths of the files that it reads, such as inputs, images and schemas. */
  readonly filesRead?: readonly string[];
  /**
   * The text of the case in the test file if the tests are watched; an equal text means an
   * unchanged case.
   */
  readonly sourceText?: string;
  /** The number of its checks that are left out. */
  readonly leftOutCheckCount?: number;
  /**
   * Set if its prompt may depend on the answers of earlier cases, or later prompts on its answer.
   */
  readonly turn?: TestTurn;
  /** The fault that keeps this case alone from running. */
  readonly fault?: CliError;
}
