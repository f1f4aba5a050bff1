import { isMap } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../files/json.ts';
import { type Place, parseYamlWithFaults, type YamlEntry, type YamlValue } from '../files/yaml-file.ts';
import type { Findings } from './findings.ts';
import type { PromptOutput } from './output.ts';
import { readSchema } from './schemas/picoschema.ts';
import { schemaContext } from './schemas/schema-reader.ts';

/** A value and the place it stands at. */
export interface Placed<T> {
  readonly value: T;
  readonly place: Place;
}

/** What the head of a prompt file says. */
export interface FrontMatter {
  readonly title?: Placed<string>;
  readonly description?: Placed<string>;
  readonly model?: Placed<string>;
  readonly config: ReadonlyMap<string, Placed<JsonValue>>;
  /** Undefined where no schema is given: then the template's own names are the inputs. */
  readonly inputSchema?: JsonObject;
  /** Every name that stands in the schema, those of fields that can't be read too; undefined if the head can't be. */
  readonly mentioned: ReadonlySet<string> | undefined;
  /** Where the fields of the schema stand, for faults. */
  readonly placeOfField: (key: string) => Place;
  readonly defaults: ReadonlyMap<string, Placed<JsonValue>>;
  readonly output: PromptOutput;
  readonly outputPlace: Place;
  readonly ext: JsonObject;
  /** Everything, as written. */
  readonly whole: JsonObject;
}

/** Keys of the format that are kept without an effect on what is sent. */
const SILENT = new Set(['name', 'variant', 'version', 'metadata', 'ext']);
const READ = ['model', 'config', 'input', 'output', 'title', 'description'];
const FORMATS = ['json', 'text'];

type Entries = ReadonlyMap<string, YamlEntry>;

/** Reads front matter that begins at line `firstLine` of its file. What is wrong becomes a finding. */
export function readFrontMatter(
  text: string,
  firstLine: number,
  findings: Findings,
  named?: Readonly<Record<string, JsonObject>>,
): FrontMatter {
  const { root, faults } = parseYamlWithFaults(text, firstLine);
  for (const fault of faults) findings.fault(fault, fault.what);
  const head = new HeadReader(findings, named);
  const entries = head.entries(faults.length === 0 ? root : undefined, 'the front matter');
  for (const entry of entries.values()) noteUnknown(entry, findings);
  const input = head.entries(entries.get('input')?.value, 'input', ['schema', 'default']);
  const output = head.entries(entries.get('output')?.value, 'output', ['format', 'schema']);
  const inputSchema = head.schema(input.get('schema'));
  return {
    ...head.texts(entries),
    config: head.values(entries.get('config')?.value, 'config'),
    ...(inputSchema && { inputSchema }),
    mentioned: faults.length === 0 ? namesIn(input.get('schema')) : undefined,
    placeOfField: key => placeOfField(key, input.get('schema')),
    defaults: head.values(input.get('default')?.value, 'input.default'),
    output: head.output(output),
    outputPlace: placeOf(output.get('schema') ?? entries.get('output')),
    ...head.extensions(entries),
  };
}

function placeOf(entry: YamlEntry | undefined): Place {
  return { line: entry?.line ?? 1, column: entry?.column ?? 1 };
}

class HeadReader {
  private readonly schemas;

  constructor(
    private readonly findings: Findings,
    named?: Readonly<Record<string, JsonObject>>,
  ) {
    this.schemas = schemaContext(findings, named);
  }

  /** The entries of a map; those that are not among `known` are reported. */
  entries(value: YamlValue | undefined, name: string, known?: readonly string[]): Entries {
    const entries = (value && this.findings.attempt(() => value.entries(name))) ?? [];
    const strangers = known ? entries.filter(({ key }) => !known.includes(key)) : [];
    for (const entry of strangers) {
      const takes = known?.join(' and ') ?? '';
      this.findings.note(entry, `\`${entry.key}\` is kept without effect: ${name} takes ${takes}`);
    }
    return new Map(entries.map(entry => [entry.key, entry]));
  }

  texts(entries: Entries): Pick<FrontMatter, 'title' | 'description' | 'model'> {
    const found: { title?: Placed<string>; description?: Placed<string>; model?: Placed<string> } = {};
    for (const key of ['title', 'description', 'model'] as const) {
      const text = this.text(entries.get(key), key);
      if (text) found[key] = text;
    }
    return found;
  }

  values(value: YamlValue | undefined, name: string): Map<string, Placed<JsonValue>> {
    const values = new Map<string, Placed<JsonValue>>();
    for (const entry of this.entries(value, name).values()) {
      const json = this.findings.attempt(() => entry.value.json());
      if (json !== undefined) values.set(entry.key, { value: json, place: entry });
    }
    return values;
  }

  schema(entry: YamlEntry | undefined): JsonObject | undefined {
    return entry && readSchema(entry.value, this.schemas);
  }

  output(entries: Entries): PromptOutput {
    const format = this.text(entries.get('format'), 'output.format');
    const schema = this.schema(entries.get('schema'));
    if (format && !FORMATS.includes(format.value)) {
      this.findings.note(format.place, `the format \`${format.value}\` is not checked: json is`);
    }
    return { ...(format && { format: format.value }), ...(schema && { schema }) };
  }

  extensions(entries: Entries): Pick<FrontMatter, 'ext' | 'whole'> {
    const whole = [...entries.values()].flatMap(({ key, value }): [string, JsonValue][] => {
      const json = this.findings.attempt(() => value.json());
      return json === undefined ? [] : [[key, json]];
    });
    const written = whole.find(([key]) => key === 'ext')?.[1];
    return {
      ext: extensionsOf(whole, isJsonObject(written) ? written : {}),
      whole: Object.fromEntries(whole),
    };
  }

  private text(entry: YamlEntry | undefined, name: string): Placed<string> | undefined {
    if (!entry || entry.value.isEmpty) return undefined;
    const text = this.findings.attempt(() => entry.value.text(name));
    const value = text?.replace(/\s+/g, ' ').trim() ?? '';
    return value === '' ? undefined : { value, place: entry.value };
  }
}

function noteUnknown({ key, ...place }: YamlEntry, findings: Findings): void {
  if (READ.includes(key) || SILENT.has(key)) return;
  if (key.includes('.')) return findings.note(place, `\`${key}\` is kept in ext, without effect here`);
  const isOfFormat = ['tools', 'toolDefs', 'maxTurns'].includes(key);
  const what = isOfFormat
    ? 'has no effect here: no tools are called'
    : 'is not a key of the format: it is kept without effect';
  findings.note(place, `\`${key}\` ${what}`);
}

/** `a.b.c: 1` is field `c` of the namespace `a.b`. */
function extensionsOf(entries: readonly (readonly [string, JsonValue])[], written: JsonObject): JsonObject {
  const spaces = new Map<string, Map<string, JsonValue>>();
  for (const [key, value] of entries) {
    const dot = key.lastIndexOf('.');
    if (dot < 0) continue;
    const space = spaces.get(key.slice(0, dot)) ?? new Map<string, JsonValue>();
    spaces.set(key.slice(0, dot), space.set(key.slice(dot + 1), value));
  }
  const found = [...spaces].map(([name, fields]) => [name, Object.fromEntries(fields)] as const);
  return Object.fromEntries([...Object.entries(written), ...found]);
}

/** Where a field is declared. */
function placeOfField(key: string, schema: YamlEntry | undefined): Place {
  if (!schema) return { line: 1, column: 1 };
  return fieldsIn(schema).find(({ name }) => name === key) ?? schema;
}

function namesIn(schema: YamlEntry | undefined): Set<string> {
  return new Set(schema ? fieldsIn(schema).map(({ name }) => name) : []);
}

/** Picoschema has marks beside the name, JSON Schema a map of properties. */
function fieldsIn({ value }: YamlEntry): (Place & { readonly name: string })[] {
  const fields = value.at('/properties');
  if (!isMap(fields.node)) return [];
  return fields.entries('a schema', []).map(({ key, line, column }) => ({ name: nameOf(key), line, column }));
}

function nameOf(key: string): string {
  return (
    key
      .split('(')[0]
      ?.replace(/\?\s*$/, '')
      .trim() ?? ''
  );
}
