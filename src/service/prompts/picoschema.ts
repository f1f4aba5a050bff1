import { FileFault, type YamlEntry, type YamlReader } from '../files/yaml-file.ts';

/** A field of `input.schema`: a text, or one of a few. */
export interface SchemaField {
  readonly key: string;
  readonly line: number;
  readonly optional: boolean;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** `name`, `name?`, `name(enum)`, `name?(enum, what it is for)`. */
const KEY = /^([^?()]+)(\?)?(?:\(([^,()]*)(?:,([^]*))?\))?$/;
const FORMS = 'write `field: string, description` or `field(enum, description): [one, two]`';

/** Reads the fields of a Picoschema map in order. Throws FileFault. */
export function readSchema(entries: readonly YamlEntry[], read: YamlReader): SchemaField[] {
  const fields = entries.map(entry => readField(entry, read));
  fields.forEach(({ key, line }, index) => {
    if (fields.findIndex(other => other.key === key) < index) {
      throw new FileFault(line, `the input \`${key}\` is declared twice`);
    }
  });
  return fields;
}

function readField(entry: YamlEntry, read: YamlReader): SchemaField {
  const [, name, mark, type, note] = KEY.exec(entry.key) ?? [];
  const key = name?.trim() ?? '';
  if (!isInputName(key)) throw new FileFault(entry.line, `\`${entry.key}\` is no input: ${FORMS}`);
  const field = { key, line: entry.line, optional: mark !== undefined };
  if (type === undefined) return { ...field, ...described(readScalar(entry, read)) };
  if (type.trim() !== 'enum') {
    throw new FileFault(
      entry.line,
      `\`${key}\` is of the type \`${type.trim()}\`, which no input can be: ${FORMS}`,
    );
  }
  return { ...field, ...described(note), enum: readChoices(entry, key, read) };
}

/** Names reach the command line as `name=value`. */
function isInputName(key: string): boolean {
  return key !== '' && !/[\p{Cc}=]/u.test(key);
}

/** `string, description` → the description. */
function readScalar(entry: YamlEntry, read: YamlReader): string | undefined {
  const text = read.text(entry.value, `the type of \`${entry.key}\``);
  const comma = text.indexOf(',');
  const type = (comma < 0 ? text : text.slice(0, comma)).trim();
  if (type !== 'string') {
    throw new FileFault(
      entry.value.line,
      `\`${entry.key}\` is of the type \`${type}\`, which no input can be: ${FORMS}`,
    );
  }
  return comma < 0 ? undefined : text.slice(comma + 1);
}

function readChoices(entry: YamlEntry, key: string, read: YamlReader): string[] {
  const choices = read
    .items(entry.value, `the values of \`${key}\``)
    .map(item => read.text(item, `a value of \`${key}\``));
  if (choices.length === 0) throw new FileFault(entry.line, `\`${key}\` has no values to choose from`);
  return [...new Set(choices)];
}

function described(note: string | undefined): { description?: string } {
  const description = note?.trim() ?? '';
  return description === '' ? {} : { description };
}
