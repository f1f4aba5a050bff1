import type { FilePosition } from '../files/formats/file-fault.ts';
import type { JsonObject } from '../files/formats/json.ts';
import { toTextOrJson } from '../files/formats/json-fields.ts';
import { isJsonObject } from '../utils/bounded-json.ts';
import type { PromptConfig, TextInputConfig } from '../wire/index.ts';

/** The type of an input; `any` if the schema names none or several. */
export type InputType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any';

/** A text input of a prompt. Its value reaches the service as text. */
export interface TextInput {
  readonly key: string;
  readonly description?: string;
  /** True if it is not marked `?` and has no default. */
  readonly required: boolean;
  readonly type: InputType;
  /** The default as text; lists and objects as JSON. */
  readonly default?: string;
  readonly enum?: readonly string[];
  /** The schema for values; omitted if any text is valid. */
  readonly schema?: JsonObject;
}

/** An image input of a prompt; always required. */
export interface ImageInputField {
  readonly key: string;
  readonly description?: string;
}

/** The name, description and strictness that a provider gets with a schema. */
export interface SchemaName {
  readonly name?: string;
  readonly description?: string;
  readonly strict?: boolean;
}

/** The output that a prompt asks its model for. */
export interface PromptOutput {
  /** The format as written in the file, such as `json` or `text`. */
  readonly format?: string;
  readonly schema?: JsonObject;
  /** Sent with the schema; default: a generated name, strict if the schema allows it. */
  readonly named?: SchemaName;
  /** The code block of the answer that is the output; without a code block, the whole answer is. */
  readonly extract?: 'first' | 'last';
}

/** Returns the fields of a definition that follow from its `config`. */
export function toConfigFields(
  config: JsonObject,
): Pick<PromptDefinition, 'config' | 'runOptions'> {
  const scalars = Object.entries(config).filter(
    ([, value]) => value !== null && typeof value !== 'object',
  );
  return {
    config,
    runOptions: Object.fromEntries(scalars.map(([key, value]) => [key, toTextOrJson(value)])),
  };
}

/** A parsed prompt file, as plain JSON, so that it can be stored and need not be parsed again. */
export interface PromptDefinition {
  /** The file's name without its extension. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** The model; `echo` if the file names none. */
  readonly model: string;
  readonly namesModel: boolean;
  /**
   * The model with its provider in front, if another tool's file names it without, as it may there.
   */
  readonly providerModel?: string;
  /** `config` as written, for the model's provider; numbers stay numbers. */
  readonly config: JsonObject;
  /** The scalars of `config` as text: they can be run options. */
  readonly runOptions: Readonly<Record<string, string>>;
  readonly textInputs: readonly TextInput[];
  /** The image inputs in schema order, which is the order of a run's `imageInputs`. */
  readonly imageInputs: readonly ImageInputField[];
  readonly input: { readonly schema?: JsonObject; readonly default?: JsonObject };
  readonly output: PromptOutput;
  /** Fields with a dot in their name, grouped by the part before the last dot. */
  readonly ext: JsonObject;
  readonly frontMatter: JsonObject;
  /**
   * The whole file without a byte-order mark and with LF line ends. Equal sources are the same
   * version.
   */
  readonly source: string;
  /** The sources of the partials by name, including those that partials use. */
  readonly partials: Readonly<Record<string, string>>;
  readonly template: string;
  /** Places in the file, for faults that show only once models and values are known. */
  readonly places: PromptPlaces;
}

/**
 * Returns the name of the model that a definition means: the one with its provider in front if
 * `models` lacks the other.
 */
export function resolveModel(
  { model, providerModel }: Pick<PromptDefinition, 'model' | 'providerModel'>,
  models: { get(name: string): unknown },
): string {
  return models.get(model) === undefined ? (providerModel ?? model) : model;
}

/** Places of fields in a prompt file. */
export interface PromptPlaces {
  readonly model: FilePosition;
  readonly output: FilePosition;
  readonly config: Readonly<Record<string, FilePosition>>;
  readonly defaults: Readonly<Record<string, FilePosition>>;
}

/** The inputs of a run don't match its prompt. The message names every field. */
export class InvalidInputsError extends Error {
  readonly code = 'INVALID_INPUTS';

  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** Returns the inputs of a prompt as the service shows them. */
export function toPromptConfig({ textInputs, imageInputs }: PromptDefinition): PromptConfig {
  return {
    // With fromEntries an input named `__proto__` is a key like any other.
    textInputs: Object.fromEntries(textInputs.map(input => [input.key, toTextInputConfig(input)])),
    imageInputs: imageInputs.map(({ key: name, description }) => ({
      name,
      ...(description !== undefined && { description }),
    })),
  };
}

function toTextInputConfig({
  type,
  description,
  required,
  default: defaultValue,
  enum: choices,
  schema,
}: TextInput): TextInputConfig {
  const items = schema?.['items'];
  const itemType = type === 'array' && isJsonObject(items) ? items['type'] : undefined;
  return {
    type,
    ...(description === undefined ? {} : { description }),
    required,
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(choices === undefined ? {} : { enum: [...choices] }),
    ...(typeof itemType === 'string' && { items: { type: itemType } }),
  };
}

/** The version of the stored form. A definition in another version is parsed again. */
const STORED_FORM_VERSION = 3;

/** Serialises a definition to store it with its source, so that a run need not load the parsers. */
export function serialiseDefinition(definition: PromptDefinition): string {
  return JSON.stringify({ form: STORED_FORM_VERSION, definition });
}

/**
 * Parses what `serialiseDefinition` wrote. In the form of another release, only the partials are
 * reliable.
 */
export function readStoredForm(
  text: string,
): { readonly definition: PromptDefinition } | { readonly partials: PromptDefinition['partials'] } {
  const { form, definition } = JSON.parse(text) as { form: number; definition: PromptDefinition };
  return form === STORED_FORM_VERSION ? { definition } : { partials: definition.partials ?? {} };
}
