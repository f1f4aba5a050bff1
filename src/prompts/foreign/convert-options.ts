import type { JsonValue } from '../../files/formats/json.ts';

/** The options of a conversion. */
export interface ConvertOptions {
  /** The names of the settings that providers support. */
  readonly settingNames: readonly string[];
  /** The absolute folder of the file, to which the paths in the file are relative. */
  readonly directory: string;
  /** The number of the prompt to convert, from 1; default 1. */
  readonly promptNumber?: number | undefined;
  /** True if the file may name files outside its folder; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True to run the tests, false to write them to files; default false. */
  readonly isForTest?: boolean;
  /** True if programs and addresses may be run; default false. */
  readonly allowCommands?: boolean;
  /** Names of models that are taken already. */
  readonly takenModelNames?: readonly string[];
  /** Providers of a models file whose names are taken already, by name. */
  readonly takenProviders?: Readonly<Record<string, JsonValue>>;
  /** The environment variables that the configuration names. */
  readonly env?: Readonly<Record<string, string>>;
  /** The output of programs that make tests, by name. */
  readonly programOutputs?: Readonly<Record<string, string>>;
  /** The rows of an evaluation, one JSON object per line. */
  readonly rowsFile?: { readonly file: string; readonly text: string } | undefined;
}
