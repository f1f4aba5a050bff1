import { FileFault } from '../files/yaml-file.ts';
import type { ImageInputField, TextInput } from './definition.ts';
import type { FrontMatter, Placed } from './front-matter.ts';
import type { SchemaField } from './picoschema.ts';
import type { FieldUse } from './template.ts';

export interface PromptInputs {
  readonly textInputs: readonly TextInput[];
  readonly imageInputs: readonly ImageInputField[];
}

/** Sorts the inputs into texts and pictures by how the template uses them. Throws FileFault; lines are those of the file. */
export function sortInputs({ schema, defaults }: FrontMatter, uses: readonly FieldUse[]): PromptInputs {
  const fields = schema ?? fieldsOf(uses);
  const known = new Set(fields.map(({ key }) => key));
  refuseUnknown(known, uses, defaults);
  const pictures = new Set(uses.filter(({ as }) => as === 'image').map(({ key }) => key));
  const shown = uses.find(({ key, as }) => as === 'text' && pictures.has(key));
  if (shown) {
    throw new FileFault(
      shown.line,
      `\`${shown.key}\` is a picture: place it with {{media url=${shown.key}}} only`,
    );
  }
  return {
    textInputs: fields
      .filter(({ key }) => !pictures.has(key))
      .map(field => textInput(field, defaults.get(field.key))),
    imageInputs: fields
      .filter(({ key }) => pictures.has(key))
      .map(field => imageInput(field, defaults.get(field.key))),
  };
}

/** Without a schema the names of the template are the inputs, in order of appearance. */
function fieldsOf(uses: readonly FieldUse[]): SchemaField[] {
  const first = uses.filter(({ key }, index) => uses.findIndex(other => other.key === key) === index);
  return first.map(({ key, line }) => ({ key, line, optional: false }));
}

function refuseUnknown(
  known: ReadonlySet<string>,
  uses: readonly FieldUse[],
  defaults: ReadonlyMap<string, Placed>,
): void {
  const use = uses.find(({ key }) => !known.has(key));
  if (use) throw new FileFault(use.line, `\`${use.key}\` is not in input.schema: declare it there`);
  for (const [key, { line }] of defaults) {
    if (!known.has(key)) throw new FileFault(line, `the default \`${key}\` belongs to no input`);
  }
}

function textInput(
  { key, optional, description, enum: choices }: SchemaField,
  given: Placed | undefined,
): TextInput {
  if (given && choices && !choices.includes(given.text)) {
    throw new FileFault(given.line, `the default of \`${key}\` is none of its values: ${choices.join(', ')}`);
  }
  return {
    key,
    ...(description === undefined ? {} : { description }),
    required: !optional && given === undefined,
    ...(given === undefined ? {} : { default: given.text }),
    ...(choices === undefined ? {} : { enum: choices }),
  };
}

function imageInput(
  { key, line, optional, description, enum: choices }: SchemaField,
  given: Placed | undefined,
): ImageInputField {
  if (given) throw new FileFault(given.line, `\`${key}\` is a picture and can’t have a default`);
  if (choices) throw new FileFault(line, `\`${key}\` is a picture: declare it as a string`);
  if (optional) {
    throw new FileFault(line, `\`${key}\` is a picture, and those are always required: leave out the \`?\``);
  }
  return { key, ...(description === undefined ? {} : { description }) };
}
