import type { FilePosition } from '../../files/formats/file-fault.ts';
import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import {
  parseYaml,
  type YamlEntries,
  type YamlEntry,
  type YamlValue,
} from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import type { PromptOutput } from '../definition.ts';
import type { Findings } from '../findings.ts';
import { MISSING_SCHEMA, readSchema } from '../schemas/picoschema.ts';
import { createSchemaContext } from '../schemas/schema-reader.ts';

export interface LocatedValue<T> {
  readonly value: T;
  readonly place: FilePosition;
}

export type FrontMatter = ReturnType<typeof readFrontMatter>;

/** Keys of the format that are kept but have no effect on requests. */
const IGNORED_KEYS = new Set(['name', 'variant', 'version', 'metadata', 'ext']);
const FRONT_MATTER_KEYS = ['model', 'config', 'input', 'output', 'title', 'description'];
const OUTPUT_KEYS = ['format', 'schema', 'named', 'extract'];
const OUTPUT_FORMATS = ['json', 'text'];
const TOP: FilePosition = { line: 1, column: 1 };

/** Parses front matter that begins at line `firstLine` of its file. Faults become findings. */
export function readFrontMatter(
  text: string,
  firstLine: number,
  findings: Findings,
  namedSchemas?: Readonly<Record<string, JsonObject>>,
) {
  const root = findings.attempt(() => parseYaml(text, firstLine));
  const entries = readKnownEntries(root, 'the front matter', findings);
  for (const entry of entries.values()) noteUnknownKey(entry, findings);
  const input = readPartEntries(entries.get('input'), findings, ['schema', 'default']);
  const output = readPartEntries(entries.get('output'), findings, OUTPUT_KEYS);
  const context = createSchemaContext(findings, namedSchemas);
  const readOptionalSchema = (entry: YamlEntry | undefined): JsonObject | undefined =>
    entry && readSchema(entry.value, context);
  const inputSchema = input.get('schema');
  const fields = listSchemaFields(inputSchema);
  const writtenFields = [...readLocatedValues(entries, findings)].map(
    ([key, { value }]) => [key, value] as const,
  );

  return {
    isReadable: root !== undefined,
    title: readOneLineText(entries.get('title'), findings),
    description: readOneLineText(entries.get('description'), findings),
    model: readOneLineText(entries.get('model'), findings),
    modelPlace: entries.get('model')?.value ?? TOP,
    config: readLocatedValues(
      readKnownEntries(entries.get('config')?.value, 'config', findings),
      findings,
    ),
    /** Undefined without a schema; the inputs are then the names in the template. */
    inputSchema: readOptionalSchema(inputSchema),
    /** Returns true if the schema has a field of this name, even one that can't be read. */
    mentions: (key: string) => fields.some(({ name }) => name === key),
    placeOfField: (key: string): FilePosition =>
      fields.find(({ name }) => name === key) ?? inputSchema ?? TOP,
    defaults: readLocatedValues(
      readKnownEntries(input.get('default')?.value, 'input.default', findings),
      findings,
    ),
    output: {
      ...readOutput(output.get('format'), readOptionalSchema(output.get('schema')), findings),
      ...readNamedField(output.get('named'), findings),
      ...readExtractField(output.get('extract'), findings),
    },
    outputPlace: output.get('schema') ?? entries.get('output') ?? TOP,
    ext: readExtensions(writtenFields),
    /** The whole front matter as written. */
    whole: Object.fromEntries(writtenFields),
  };
}

function readOutput(
  entry: YamlEntry | undefined,
  schema: JsonObject | undefined,
  findings: Findings,
): PromptOutput {
  const format = readOneLineText(entry, findings, 'output.format');
  if (entry && format !== undefined && !OUTPUT_FORMATS.includes(format)) {
    findings.addNote(entry.value, `the format \`${format}\` is not checked, only json is`);
  }
  return { ...(format !== undefined && { format }), ...(schema && { schema }) };
}

function readNamedField(
  entry: YamlEntry | undefined,
  findings: Findings,
): Pick<PromptOutput, 'named'> {
  const entries = readKnownEntries(entry?.value, 'output.named', findings, [
    'name',
    'description',
    'strict',
  ]);
  const texts = ['name', 'description'].flatMap(key => {
    const text = readOneLineText(entries.get(key), findings, `output.named.${key}`);
    return text === undefined ? [] : [[key, text] as const];
  });

  const strict = entries.get('strict')?.value.json();
  if (strict !== undefined && typeof strict !== 'boolean') {
    findings.addFault(entries.get('strict') ?? TOP, 'output.named.strict must be true or false');
  }

  const named = { ...Object.fromEntries(texts), ...(typeof strict === 'boolean' && { strict }) };
  return Object.keys(named).length > 0 ? { named } : {};
}

function readExtractField(
  entry: YamlEntry | undefined,
  findings: Findings,
): Pick<PromptOutput, 'extract'> {
  const extract = readOneLineText(entry, findings, 'output.extract');
  if (extract === 'first' || extract === 'last') return { extract };
  if (entry && extract !== undefined) {
    findings.addFault(entry.value, `output.extract is first or last, not \`${extract}\``);
  }
  return {};
}

/**
 * Returns the entries of `input` or `output`; none, with a note, for a word, which Genkit ignores.
 */
function readPartEntries(
  entry: YamlEntry | undefined,
  findings: Findings,
  knownKeys: readonly string[],
): YamlEntries {
  const word = entry?.value.scalar;
  if (!entry || word === undefined) {
    return readKnownEntries(entry?.value, entry?.key ?? '', findings, knownKeys);
  }
  const form = `write ${entry.key}: { schema: ${word} }`;
  findings.addNote(entry.value, `${MISSING_SCHEMA} \`${word}\`: anything is accepted; ${form}`);
  return new Map();
}

/** Returns the entries of a map and reports those that are not among `knownKeys`. */
function readKnownEntries(
  value: YamlValue | undefined,
  name: string,
  findings: Findings,
  knownKeys?: readonly string[],
): YamlEntries {
  const entries = (value && findings.attempt(() => value.entries(name))) ?? [];
  for (const entry of entries) {
    if (!knownKeys || knownKeys.includes(entry.key)) continue;
    const meant = didYouMean(entry.key, knownKeys);
    findings.addNote(
      entry,
      `\`${entry.key}\` has no effect: ${name} takes ${joinNames(knownKeys)}${meant}`,
    );
  }
  return new Map(entries.map(entry => [entry.key, entry]));
}

function joinNames(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function readLocatedValues(
  entries: YamlEntries,
  findings: Findings,
): Map<string, LocatedValue<JsonValue>> {
  const values = [...entries].map(([key, place]) => {
    const value = findings.attempt(() => place.value.json());
    return value === undefined ? undefined : ([key, { value, place }] as const);
  });
  return new Map(values.filter(value => value !== undefined));
}

/** Returns a text on one line; undefined if it is empty. */
function readOneLineText(
  entry: YamlEntry | undefined,
  findings: Findings,
  name = entry?.key ?? '',
): string | undefined {
  if (!entry || entry.value.isEmpty) return undefined;
  const text = findings.attempt(() => entry.value.storableText(name));
  return text?.replace(/\s+/g, ' ').trim() || undefined;
}

/** The end of a note on keys for tools. */
export const NO_TOOLS = 'has no effect here: no tools are called';

function noteUnknownKey({ key, ...place }: YamlEntry, findings: Findings): void {
  if (FRONT_MATTER_KEYS.includes(key) || IGNORED_KEYS.has(key)) return;

  if (key.includes('.')) {
    return findings.addNote(place, `\`${key}\` is kept in ext and has no effect here`);
  }

  const isOfFormat = ['tools', 'toolDefs', 'maxTurns'].includes(key);
  const what = isOfFormat
    ? NO_TOOLS
    : `is not a key of the format and has no effect${didYouMean(key, [...FRONT_MATTER_KEYS, ...IGNORED_KEYS])}`;
  findings.addNote(place, `\`${key}\` ${what}`);
}

/** Returns the fields of `ext`, and `a.b.c: 1` as field `c` of the namespace `a.b`. */
function readExtensions(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const spaces = new Map<string, Map<string, JsonValue>>();
  for (const [key, value] of entries) {
    const dot = key.lastIndexOf('.');
    if (dot < 0) continue;
    const space = spaces.get(key.slice(0, dot)) ?? new Map<string, JsonValue>();
    spaces.set(key.slice(0, dot), space.set(key.slice(dot + 1), value));
  }

  const written = entries.find(([key]) => key === 'ext')?.[1];
  const nested = [...spaces].map(([name, fields]) => [name, Object.fromEntries(fields)] as const);
  return Object.fromEntries([...Object.entries(isJsonObject(written) ? written : {}), ...nested]);
}

/**
 * Returns the places where a schema declares fields. Picoschema marks names; JSON Schema has a map
 * of properties.
 */
function listSchemaFields(
  schema: YamlEntry | undefined,
): (FilePosition & { readonly name: string })[] {
  const fields = schema?.value.at('/properties');
  if (!fields?.isMap) return [];
  return fields.entries('a schema', []).map(({ key, line, column }) => {
    const [name = ''] = key.split('(');
    return { name: name.replace(/\?\s*$/, '').trim(), line, column };
  });
}
