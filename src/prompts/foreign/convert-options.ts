import type { JsonValue } from '../../files/formats/json.ts';

export interface ConvertOptions {
  /** The names of settings that providers support. */
  readonly settings: readonly string[];
  /** The absolute folder of the file; its paths are relative to it. */
  readonly directory: string;
  /** The number of the prompt to convert, from 1; default 1. */
  readonly prompt?: number | undefined;
  /** True if it may name files outside its folder; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True to run the tests, false to write them to files; default false. */
  readonly isForTest?: boolean;
  /** True if programs and addresses may be run; default false. */
  readonly allowCommands?: boolean;
  /** Names of models that are taken already. */
  readonly takenModels?: readonly string[];
  /** Providers of a models file whose names are taken already, by name. */
  readonly takenProviders?: Readonly<Record<string, JsonValue>>;
  /** The environment variables that the configuration names. */
  readonly env?: Readonly<Record<string, string>>;
  /** The output of programs that make tests, by name. */
  readonly programOutputs?: Readonly<Record<string, string>>;
  /** The rows of an evaluation, one JSON object per line. */
  readonly items?: { readonly file: string; readonly text: string } | undefined;
}
