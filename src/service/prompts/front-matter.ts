import {
  FileFault,
  isEmpty,
  parseYaml,
  type YamlEntry,
  type YamlReader,
  type YamlValue,
} from '../files/yaml-file.ts';
import { readSchema, type SchemaField } from './picoschema.ts';

/** A text and the line it stands at. */
export interface Placed {
  readonly text: string;
  readonly line: number;
}

/** What the head of a prompt file says. */
export interface FrontMatter {
  readonly title?: Placed;
  readonly description?: Placed;
  readonly model?: Placed;
  readonly runOptions: ReadonlyMap<string, Placed>;
  /** Undefined where no schema is given: then the template's own names are the inputs. */
  readonly schema?: readonly SchemaField[];
  readonly defaults: ReadonlyMap<string, Placed>;
}

/** Keys of the format that mean nothing here. */
const IGNORED = new Set([
  'name',
  'variant',
  'version',
  'output',
  'tools',
  'toolDefs',
  'maxTurns',
  'metadata',
  'ext',
]);
const KNOWN = ['model', 'config', 'input', 'title', 'description'];

/** Reads front matter that begins at line `firstLine` of its file. Throws FileFault. */
export function readFrontMatter(text: string, firstLine: number): FrontMatter {
  const { root, read } = parseYaml(text, firstLine);
  const entries = new Map(read.entries(root, 'the front matter').map(entry => [entry.key, entry]));
  for (const entry of entries.values()) refuseUnknown(entry);
  return {
    ...texts(entries, read),
    runOptions: readTexts(entries.get('config')?.value, 'config', read),
    ...readInput(entries.get('input'), read),
  };
}

function refuseUnknown({ key, line }: YamlEntry): void {
  if (KNOWN.includes(key) || IGNORED.has(key) || key.includes('.')) return;
  throw new FileFault(line, `\`${key}\` is not known here: the front matter takes ${KNOWN.join(', ')}`);
}

function texts(
  entries: ReadonlyMap<string, YamlEntry>,
  read: YamlReader,
): Pick<FrontMatter, 'title' | 'description' | 'model'> {
  const found: { title?: Placed; description?: Placed; model?: Placed } = {};
  for (const key of ['title', 'description', 'model'] as const) {
    const value = entries.get(key)?.value;
    if (!value || isEmpty(value)) continue;
    const text = read.text(value, key).replace(/\s+/g, ' ').trim();
    if (text !== '') found[key] = { text, line: value.line };
  }
  return found;
}

function readInput(input: YamlEntry | undefined, read: YamlReader): Pick<FrontMatter, 'schema' | 'defaults'> {
  if (!input) return { defaults: new Map() };
  const entries = new Map(read.entries(input.value, 'input').map(entry => [entry.key, entry]));
  for (const { key, line } of entries.values()) {
    if (key !== 'schema' && key !== 'default') {
      throw new FileFault(line, `\`${key}\` is not known here: input takes schema and default`);
    }
  }
  const schema = entries.get('schema');
  const defaults = readTexts(entries.get('default')?.value, 'input.default', read);
  if (!schema || isEmpty(schema.value)) return { defaults };
  return { schema: readSchema(read.entries(schema.value, 'input.schema'), read), defaults };
}

function readTexts(value: YamlValue | undefined, name: string, read: YamlReader): Map<string, Placed> {
  const entries = value ? read.entries(value, name) : [];
  return new Map(
    entries.map(entry => [
      entry.key,
      { text: read.text(entry.value, `\`${entry.key}\` of ${name}`), line: entry.line },
    ]),
  );
}
