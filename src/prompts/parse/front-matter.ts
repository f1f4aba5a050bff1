import type { FilePosition } from '../../files/formats/file-fault.ts';
import { type JsonObject, type JsonValue, withoutUndefined } from '../../files/formats/json.ts';
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
import { MISSING_SCHEMA_PREFIX, readSchema } from '../schemas/picoschema.ts';
import { createSchemaContext } from '../schemas/schema-context.ts';
import type { PromptSource } from './prompt-source.ts';

/** A value with its place in the file. */
export interface LocatedValue<T> {
  readonly value: T;
  readonly place: FilePosition;
}

/** The readable parts of the front matter of a prompt file. */
export interface FrontMatter {
  /** False if the YAML can't be parsed. */
  readonly isReadable: boolean;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly model: string | undefined;
  readonly modelPlace: FilePosition;
  readonly config: ReadonlyMap<string, LocatedValue<JsonValue>>;
  /** Undefined without a schema; the inputs are then the names in the template. */
  readonly inputSchema: JsonObject | undefined;
  /** Returns true if the schema has a field of this name, even one that can't be read. */
  readonly declaresField: (name: string) => boolean;
  readonly getFieldPlace: (name: string) => FilePosition;
  readonly defaults: ReadonlyMap<string, LocatedValue<JsonValue>>;
  readonly output: PromptOutput;
  readonly outputPlace: FilePosition;
  readonly ext: JsonObject;
  /** The front matter as written. */
  readonly allFields: JsonObject;
}

/** Keys of the format that are kept but have no effect on requests. */
const IGNORED_KEYS = new Set(['name', 'variant', 'version', 'metadata', 'ext']);
const FRONT_MATTER_KEYS = ['model', 'config', 'input', 'output', 'title', 'description'];
const TOOL_KEYS = ['tools', 'toolDefs', 'maxTurns'];
const OUTPUT_KEYS = ['format', 'schema', 'named', 'extract'];
const NAMED_KEYS = ['name', 'description', 'strict'];
const OUTPUT_FORMATS = ['json', 'text'];

/** The end of a note on keys for tools. */
export const NO_TOOLS_NOTE = 'has no effect here: no tools are called';

const FILE_START: FilePosition = { line: 1, column: 1 };

/** Parses the front matter of a prompt file. Faults become findings. */
export function readFrontMatter(
  { frontMatter, frontMatterLine }: PromptSource,
  findings: Findings,
  namedSchemas?: Readonly<Record<string, JsonObject>>,
): FrontMatter {
  const root = findings.attempt(() => parseYaml(frontMatter, frontMatterLine));
  const entries = readKnownEntries(root, 'the front matter', findings);
  for (const entry of entries.values()) noteUnknownKey(entry, findings);

  const input = readPartEntries(entries.get('input'), findings, ['schema', 'default']);
  const output = readPartEntries(entries.get('output'), findings, OUTPUT_KEYS);
  const inputSchema = input.get('schema');
  const fields = listSchemaFields(inputSchema);
  const values = [...readLocatedValues(entries, findings)].map(
    ([key, { value }]) => [key, value] as const,
  );

  const schemaContext = createSchemaContext(findings, namedSchemas);
  const readOptionalSchema = (entry: YamlEntry | undefined): JsonObject | undefined =>
    entry && readSchema(entry.value, schemaContext);

  return {
    isReadable: root !== undefined,
    title: readOneLineText(entries.get('title'), findings),
    description: readOneLineText(entries.get('description'), findings),
    model: readOneLineText(entries.get('model'), findings),
    modelPlace: entries.get('model')?.value ?? FILE_START,
    config: readValueMap(entries.get('config'), 'config', findings),
    inputSchema: readOptionalSchema(inputSchema),
    declaresField: field => fields.some(({ name }) => name === field),
    getFieldPlace: field => fields.find(({ name }) => name === field) ?? inputSchema ?? FILE_START,
    defaults: readValueMap(input.get('default'), 'input.default', findings),
    output: {
      ...readOutput(output.get('format'), readOptionalSchema(output.get('schema')), findings),
      ...readNamedField(output.get('named'), findings),
      ...readExtractField(output.get('extract'), findings),
    },
    outputPlace: output.get('schema') ?? entries.get('output') ?? FILE_START,
    ext: readExtensions(values),
    allFields: Object.fromEntries(values),
  };
}

/** Returns the entries of a map. With `knownKeys`, reports those that are not among them. */
function readKnownEntries(
  value: YamlValue | undefined,
  name: string,
  findings: Findings,
  knownKeys?: readonly string[],
): YamlEntries {
  const entries = (value && findings.attempt(() => value.readEntries(name))) ?? [];
  for (const entry of entries) {
    if (!knownKeys || knownKeys.includes(entry.key)) continue;

    const suggestion = didYouMean(entry.key, knownKeys);
    findings.addNote(
      entry,
      `\`${entry.key}\` has no effect: ${name} takes ${joinNames(knownKeys)}${suggestion}`,
    );
  }
  return new Map(entries.map(entry => [entry.key, entry]));
}

function joinNames(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function noteUnknownKey({ key, ...place }: YamlEntry, findings: Findings): void {
  if (FRONT_MATTER_KEYS.includes(key) || IGNORED_KEYS.has(key)) return;

  if (key.includes('.')) {
    return findings.addNote(place, `\`${key}\` is kept in ext and has no effect here`);
  }

  if (TOOL_KEYS.includes(key)) return findings.addNote(place, `\`${key}\` ${NO_TOOLS_NOTE}`);

  const suggestion = didYouMean(key, [...FRONT_MATTER_KEYS, ...IGNORED_KEYS]);
  findings.addNote(place, `\`${key}\` is not a key of the format and has no effect${suggestion}`);
}

/**
 * Reads the entries of `input` or `output`. Reports a name such as `output: Recipe`, which Genkit
 * would look up among its own schemas, and which has no effect here.
 */
function readPartEntries(
  entry: YamlEntry | undefined,
  findings: Findings,
  knownKeys: readonly string[],
): YamlEntries {
  const schemaName = entry?.value.scalar;
  if (!entry || schemaName === undefined) {
    return readKnownEntries(entry?.value, entry?.key ?? '', findings, knownKeys);
  }

  const correction = `write ${entry.key}: { schema: ${schemaName} }`;
  findings.addNote(
    entry.value,
    `${MISSING_SCHEMA_PREFIX} \`${schemaName}\`: anything is accepted; ${correction}`,
  );
  return new Map();
}

/**
 * Returns the places where a schema declares fields: in the `properties` of JSON Schema; otherwise
 * `findAt` returns the schema itself, Picoschema, whose keys have marks, as in `size?(enum)`.
 */
function listSchemaFields(
  schema: YamlEntry | undefined,
): (FilePosition & { readonly name: string })[] {
  const fields = schema?.value.findAt('/properties');
  if (!fields?.isMap) return [];

  return fields.readEntries('a schema', []).map(({ key, line, column }) => {
    const [name = ''] = key.split('(');
    return { name: name.replace(/\?\s*$/, '').trim(), line, column };
  });
}

function readLocatedValues(
  entries: YamlEntries,
  findings: Findings,
): Map<string, LocatedValue<JsonValue>> {
  const values = new Map<string, LocatedValue<JsonValue>>();
  for (const [key, entry] of entries) {
    const value = findings.attempt(() => entry.value.toJson());
    if (value !== undefined) values.set(key, { value, place: entry });
  }
  return values;
}

/** Returns a text on one line; undefined if it is empty. */
function readOneLineText(
  entry: YamlEntry | undefined,
  findings: Findings,
  name = entry?.key ?? '',
): string | undefined {
  if (!entry || entry.value.isEmpty) return undefined;

  const text = findings.attempt(() => entry.value.readStorableText(name));
  return text?.replace(/\s+/g, ' ').trim() || undefined;
}

/** Reads a map of values; an empty one if there is none. */
function readValueMap(
  entry: YamlEntry | undefined,
  name: string,
  findings: Findings,
): Map<string, LocatedValue<JsonValue>> {
  return readLocatedValues(readKnownEntries(entry?.value, name, findings), findings);
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
  return withoutUndefined({ format, schema });
}

function readNamedField(
  entry: YamlEntry | undefined,
  findings: Findings,
): Pick<PromptOutput, 'named'> {
  const entries = readKnownEntries(entry?.value, 'output.named', findings, NAMED_KEYS);
  const name = readOneLineText(entries.get('name'), findings, 'output.named.name');
  const description = readOneLineText(
    entries.get('description'),
    findings,
    'output.named.description',
  );

  const strictEntry = entries.get('strict');
  const strict = strictEntry && findings.attempt(() => strictEntry.value.toJson());
  if (strictEntry && strict !== undefined && typeof strict !== 'boolean') {
    findings.addFault(strictEntry, 'output.named.strict must be true or false');
  }

  const named = withoutUndefined({
    name,
    description,
    strict: typeof strict === 'boolean' ? strict : undefined,
  });
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

/** Returns the fields of `ext`, and `a.b.c: 1` as field `c` of the namespace `a.b`. */
function readExtensions(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const namespaces = new Map<string, Map<string, JsonValue>>();
  for (const [key, value] of entries) {
    const lastDotIndex = key.lastIndexOf('.');
    if (lastDotIndex < 0) continue;

    const namespace = key.slice(0, lastDotIndex);
    const fields = namespaces.get(namespace) ?? new Map<string, JsonValue>();
    namespaces.set(namespace, fields.set(key.slice(lastDotIndex + 1), value));
  }

  const ext = entries.find(([key]) => key === 'ext')?.[1];
  const extFields = isJsonObject(ext) ? Object.entries(ext) : [];
  const dottedFields = [...namespaces].map(
    ([name, fields]) => [name, Object.fromEntries(fields)] as const,
  );
  return Object.fromEntries([...extFields, ...dottedFields]);
}
