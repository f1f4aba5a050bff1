import type { Place } from '../files/file-fault.ts';
import type { JsonObject } from '../files/json.ts';
import { isJsonObject } from '../wire/bounded-json.ts';
import type { PromptConfig, TextInputConfig } from '../wire/index.ts';

/** What a value is; `any` where the schema does not say, or says several. */
export type InputType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any';

/** A value a prompt asks for, which reaches the service as a text. */
export interface TextInput {
  readonly key: string;
  readonly description?: string;
  /** Neither marked `?` nor defaulted. */
  readonly required: boolean;
  readonly type: InputType;
  /** As a text; lists and objects as JSON. */
  readonly default?: string;
  readonly enum?: readonly string[];
  /** What a value must match; left out where any text does. */
  readonly schema?: JsonObject;
}

/** A picture a prompt asks for; always required. */
export interface ImageInputField {
  readonly key: string;
  readonly description?: string;
}

/** What a provider is told of a schema, beside the schema. */
export interface SchemaName {
  readonly name?: string;
  readonly description?: string;
  readonly strict?: boolean;
}

/** What a prompt wants back from its model. */
export interface PromptOutput {
  /** Such as `json` or `text`, as the file has it. */
  readonly format?: string;
  readonly schema?: JsonObject;
  /** What the provider is told of the schema; by default a name of its own choice, strictly if it can be. */
  readonly named?: SchemaName;
  /** Which code block of an answer is the output; an answer without one is taken whole. */
  readonly extract?: 'first' | 'last';
}

/** What a prompt file says. It is plain JSON, so that it can be kept and need not be parsed again. */
export interface PromptDefinition {
  /** The file's name without its ending. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** The model to run with; `echo` where the file names none. */
  readonly model: string;
  readonly namesModel: boolean;
  /** `config` as the file has it, for the model's provider: numbers stay numbers. */
  readonly config: JsonObject;
  /** Those of `config` that can be run options: scalars, as texts. */
  readonly runOptions: Readonly<Record<string, string>>;
  readonly textInputs: readonly TextInput[];
  /** In schema order, which is the order of `imageInputs` of a run. */
  readonly imageInputs: readonly ImageInputField[];
  readonly input: { readonly schema?: JsonObject; readonly default?: JsonObject };
  readonly output: PromptOutput;
  /** Fields with a dot in their name, by what stands before the last one. */
  readonly ext: JsonObject;
  readonly frontMatter: JsonObject;
  /** The whole file, without byte-order mark and with line feeds only: equal sources are one version. */
  readonly source: string;
  /** The partials it uses, by name, those of partials included. */
  readonly partials: Readonly<Record<string, string>>;
  readonly template: string;
  /** For faults that only show once the models are known and values are tried. */
  readonly places: PromptPlaces;
}

/** Where things stand in a prompt's file. */
export interface PromptPlaces {
  readonly model: Place;
  readonly output: Place;
  readonly config: Readonly<Record<string, Place>>;
  readonly defaults: Readonly<Record<string, Place>>;
}

/** Inputs that do not fit their prompt. The message names every field. */
export class InvalidInputs extends Error {
  readonly code = 'INVALID_INPUTS';

  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** The inputs of a prompt as the service shows them. */
export function promptConfig({ textInputs, imageInputs }: PromptDefinition): PromptConfig {
  return {
    // fromEntries makes an input named `__proto__` a key like any other.
    textInputs: Object.fromEntries(textInputs.map(input => [input.key, textInputConfig(input)])),
    imageInputs: imageInputs.map(({ key: name, description }) => ({
      name,
      ...(description !== undefined && { description }),
    })),
  };
}

function textInputConfig({
  type,
  description,
  required,
  default: standard,
  enum: choices,
  schema,
}: TextInput): TextInputConfig {
  const items = schema?.['items'];
  const itemType = type === 'array' && isJsonObject(items) ? items['type'] : undefined;
  return {
    type,
    ...(description === undefined ? {} : { description }),
    required,
    ...(standard === undefined ? {} : { default: standard }),
    ...(choices === undefined ? {} : { enum: [...choices] }),
    ...(typeof itemType === 'string' && { items: { type: itemType } }),
  };
}

/** Changes with the form of a definition: one that was kept in another form is parsed anew. */
const FORM = 3;

/** A definition to be kept beside its source, so that a run need not load the parsers. */
export function parsedForm(definition: PromptDefinition): string {
  return JSON.stringify({ form: FORM, definition });
}

/** What `parsedForm` wrote; of another release only the partials can be relied on. */
export function readForm(
  text: string,
): { readonly definition: PromptDefinition } | { readonly partials: PromptDefinition['partials'] } {
  const { form, definition } = JSON.parse(text) as { form: number; definition: PromptDefinition };
  return form === FORM ? { definition } : { partials: definition.partials ?? {} };
}
