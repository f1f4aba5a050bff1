import type { Place } from '../../../files/file-fault.ts';
import type { JsonObject, JsonValue } from '../../../files/json.ts';
import type { CliError } from '../../errors.ts';
import type { GivenImage } from '../../inputs/images/place-images.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import type { JavaScript } from '../../outputs/checks/javascript.ts';
import type { Expectation } from '../expectations/expectation.ts';
import type { PassRule } from './pass-rule.ts';

/** Of a file of tests. */
export const MOST_TEST_FILE_BYTES = 8 * 1024 * 1024;

/** The cases of one test file, whatever its form. */
export interface TestFile {
  /** Absolute. */
  readonly file: string;
  /** As reports name it: relative to the working directory. */
  readonly name: string;
  /** A prompt file (absolute), or what `run` takes as a target. */
  readonly target: string;
  /** The text of a prompt file that stands in no file of its own; found from `target`, which has it. */
  readonly prompt?: string;
  /** Every case runs with each. */
  readonly models: readonly TestedModel[];
  readonly cases: readonly TestCase[];
  /** How many of its cases are left out. */
  readonly leftOut?: number;
}

/** A model that cases run with. */
export interface TestedModel {
  /** undefined is the prompt's own. */
  readonly model: string | undefined;
  /** In place of the prompt's. */
  readonly config?: JsonObject;
  /** Code that its answers go through before any other. */
  readonly transform?: JavaScript;
  /** Of those with the same name in its file, from 2. */
  readonly number?: number;
}

export interface TestCase {
  readonly name: string;
  /** Of the case in the test file. */
  readonly line: number;
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly GivenImage[];
  /** Where images that its texts name are found; a case without it names none. */
  readonly folder?: NamingFolder;
  readonly options: ReadonlyMap<string, string>;
  /** Empty if the run must only succeed. */
  readonly expect: readonly Expectation[];
  /** Runs, at most if it runs until it is decided. */
  readonly repeat: number;
  readonly pass: PassRule;
  /** Of `pass` in the test file. */
  readonly passPlace?: Place;
  /** True to run only until it is decided if the case passes at the required rate. */
  readonly untilDecided?: true;
  /** What the placeholders of `llm` may name besides the inputs; the prompt never sees it. */
  readonly data?: ReadonlyMap<string, string>;
  /** What expectations see besides the inputs, as written; the prompt never sees it. */
  readonly vars?: Readonly<Record<string, JsonValue>>;
  /** Code that the answer goes through before it is checked. */
  readonly transform?: JavaScript;
  /** Expectations see the answer without blank space at its ends. */
  readonly trims?: boolean;
  /** The files that it reads, absolute: inputs, images, schemas. */
  readonly reads?: readonly string[];
  /** All that the test file says of it, if the tests are watched: a case that is written as before has not changed. */
  readonly written?: string;
  /** How many of its checks are left out. */
  readonly leftOut?: number;
  /** Why this case alone can't be run. */
  readonly fault?: CliError;
}
