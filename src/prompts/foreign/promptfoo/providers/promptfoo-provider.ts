import type { JsonObject } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';

/** A provider at an address of its own, as an entry of a models file. */
export interface PromptfooAddress {
  readonly name: string;
  readonly entry: JsonObject & { readonly baseUrl: string };
}

/** A provider of a configuration as a model of promptrun. */
export interface PromptfooProvider {
  /** The model's name in promptrun. */
  readonly model: string;
  /**
   * True if promptfoo sends it Responses requests, so that a provider for Chat Completions of the
   * same model is another one.
   */
  readonly usesResponses?: boolean;
  /** The names by which tests refer to it: its label, and its id if that is known. */
  readonly names: readonly string[];
  /** The label in the configuration, empty for none; undefined if the prompt doesn't read it. */
  readonly label?: string | undefined;
  readonly config: JsonObject;
  readonly output?: JsonObject | undefined;
  /** Code that transforms its answers before the checks. */
  readonly transform?: string | undefined;
  /** True if its answers are its whole results, as JSON. */
  readonly givesResults?: boolean;
  /** The entry for a models file, if it is a program or an address. */
  readonly entry?: JsonObject;
  /** The provider for a models file, if promptrun has no built-in one for its address. */
  readonly address?: PromptfooAddress | undefined;
  /** The provider in the configuration. */
  readonly place: YamlValue;
  /** False if the chosen prompt is not one of its prompts; default true. */
  readonly isAsked?: boolean;
  /** True if it may not be run. */
  readonly isLeftOut?: boolean;
}

/** A program or an address, as an entry of a models file. */
export interface DeclaredProvider {
  readonly model: string;
  readonly entry: JsonObject;
  /** Code that transforms its answers before the checks. */
  readonly transform?: string | undefined;
  /** True if its answers are its whole results, as JSON. */
  readonly givesResults?: boolean;
}

/** A provider with the parts that the configuration writes, before it is converted. */
export interface WrittenProvider {
  readonly id: string;
  readonly label?: string | undefined;
  readonly config?: YamlValue | undefined;
  /** Code that transforms its answers before the checks. */
  readonly transform?: string | undefined;
  /** The settings of the prompt and of all tests. */
  readonly promptConfig?: ReadonlyMap<string, YamlValue> | undefined;
  /** True if it judges answers, so that only the text of its own answers counts. */
  readonly isJudge?: boolean | undefined;
  readonly place: YamlValue;
}

/** The fields of the entry of a program or an address, and how its answers are read. */
export type EntryFields = Pick<DeclaredProvider, 'transform' | 'givesResults'> & {
  readonly fields: JsonObject;
};
