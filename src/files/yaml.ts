import { type FileFault, faultAt, type Place } from './file-fault.ts';
import type { JsonValue } from './json.ts';
import { keyText, type YamlNode, type YamlPair, yamlNodeOf } from './yaml-node.ts';

/**
 * Parses one YAML document whose first line is line `firstLine` of its file.
 *
 * @throws {FileFault} for what is not YAML, or nested too deeply
 */
export function parseYaml(text: string, firstLine = 1, file?: string): YamlValue {
  return yamlOf(yamlNodeOf(text, firstLine, file), firstLine, file);
}

/** The value of a document that `yamlNodeOf` has read. */
export function yamlOf(root: YamlNode | null, firstLine = 1, file?: string): YamlValue {
  return valueOf(root, { line: firstLine, column: 1 }, { file, valuesRead: 0 });
}

export interface YamlEntry extends Place {
  readonly key: string;
  /** Where the key begins, in characters. */
  readonly offset: number;
  readonly value: YamlValue;
}

/** Values that one value may hold once its aliases are written out, and all that are read of one document. */
const MAX_VALUES = 50_000;
const MAX_VALUES_READ = 2_000_000;
const MAX_DEPTH = 200;

/** The document that values are of. */
interface Source {
  readonly file: string | undefined;
  valuesRead: number;
}

/** The value of a node; if nothing is written, it stands at `otherwise`. */
function valueOf(node: YamlNode | null, otherwise: Place, source: Source): YamlValue {
  const { line, column } = isEmptyNode(node) || node?.line === undefined ? otherwise : node;
  return new YamlValue(node, { line: line ?? otherwise.line, column: column ?? otherwise.column }, source);
}

/**
 * A value in a YAML text and the place it stands at. Own names only, so `__proto__` is a key like any other. The methods
 * throw FileFault for a value of another kind.
 */
export class YamlValue implements Place {
  readonly line: number;
  readonly column: number;
  readonly file: string | undefined;
  /** null where nothing was written. */
  readonly #node: YamlNode | null;
  readonly #source: Source;

  constructor(node: YamlNode | null, { line, column }: Place, source: Source) {
    this.line = line;
    this.column = column;
    this.file = source.file;
    this.#node = node;
    this.#source = source;
  }

  /** Whether nothing, or null, was written. */
  get isEmpty(): boolean {
    return isEmptyNode(this.#node);
  }

  /** Whether the word `null` was written. */
  get isNull(): boolean {
    return this.#node?.kind === 'scalar' && this.#node.source === 'null';
  }

  get isMap(): boolean {
    return this.#node?.kind === 'map';
  }

  get isList(): boolean {
    return this.#node?.kind === 'list';
  }

  /**
   * The entries of a map in order; none if nothing was written.
   *
   * @param faults takes in a key that stands there twice, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a key that stands there twice too
   */
  entries(name: string, faults?: FileFault[]): YamlEntry[] {
    if (this.isEmpty) return [];
    if (this.#node?.kind !== 'map') throw faultAt(this, `${name} must be a map of keys to values`);
    const entries = new Map<string, YamlEntry>();
    for (const entry of this.#node.entries.map(pair => this.#entry(pair))) {
      if (entries.has(entry.key)) {
        const fault = faultAt(entry, `\`${entry.key}\` stands in ${name} twice`);
        if (!faults) throw fault;
        faults.push(fault);
      } else {
        entries.set(entry.key, entry);
      }
    }
    return [...entries.values()];
  }

  /** The values of a map by their keys, each where its key stands. */
  valuesByKey(name: string): Map<string, YamlValue> {
    const entries = this.entries(name);
    return new Map(entries.map(entry => [entry.key, new YamlValue(entry.value.#node, entry, this.#source)]));
  }

  /** The items of a list. */
  items(name: string): YamlValue[] {
    if (this.#node?.kind !== 'list') throw faultAt(this, `${name} must be a list, such as [one, two]`);
    return this.#node.items.map(item => valueOf(item, this, this.#source));
  }

  /** A text; numbers and booleans as they are written. */
  text(name: string): string {
    const text = this.scalar;
    if (text === undefined) throw faultAt(this, `${name} must be a text`);
    return text;
  }

  /** A text that a store can keep. Throws FileFault for one that holds the character NUL, which `"\\0"` writes. */
  storableText(name: string): string {
    const text = this.text(name);
    if (text.includes('\0')) throw faultAt(this, `${name} can't hold the character NUL (U+0000): remove it`);
    return text;
  }

  /** A scalar as it is written; undefined for a list or a map, and for nothing. */
  get scalar(): string | undefined {
    return this.isEmpty || this.#node?.kind !== 'scalar'
      ? undefined
      : keyText(this.#node.value, this.#node.source);
  }

  /** The value as JSON would write it. Throws FileFault for what aliases make too large. */
  json(): JsonValue {
    let values = 0;
    const convert = (value: YamlValue, depth: number): JsonValue => {
      values += 1;
      this.#source.valuesRead += 1;
      if (values > MAX_VALUES || this.#source.valuesRead > MAX_VALUES_READ) {
        throw faultAt(value, 'with its aliases written out, this is too large');
      }
      if (depth > MAX_DEPTH) throw faultAt(value, 'this is nested too deeply');
      if (value.#node?.kind === 'map') {
        const entries = value.entries('this map');
        return Object.fromEntries(entries.map(entry => [entry.key, convert(entry.value, depth + 1)]));
      }
      if (value.#node?.kind === 'list') return value.items('this list').map(item => convert(item, depth + 1));
      return jsonOfScalar(value.#node);
    };
    return convert(this, 0);
  }

  /** The value a JSON Pointer leads to, or the last one on the way that is there. */
  at(pointer: string): YamlValue {
    const [, step, ...rest] = pointer.split('/');
    const child =
      step === undefined ? undefined : this.#child(step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return child ? child.at(['', ...rest].join('/')) : this;
  }

  #child(name: string): YamlValue | undefined {
    const item = this.#node?.kind === 'list' ? this.#node.items[Number(name)] : undefined;
    if (item !== undefined) return valueOf(item, this, this.#source);
    if (this.#node?.kind !== 'map') return undefined;
    const pair = this.#node.entries.find(({ key }) => key === name);
    return pair && this.#entry(pair).value;
  }

  #entry({ key, offset, line = this.line, column = this.column, value: node }: YamlPair): YamlEntry {
    const place = { line, column, file: this.file };
    return { key, offset, ...place, value: valueOf(node, place, this.#source) };
  }
}

function isEmptyNode(node: YamlNode | null): boolean {
  return node === null || (node.kind === 'scalar' && node.value === null);
}

function jsonOfScalar(node: YamlNode | null): JsonValue {
  if (node?.kind !== 'scalar') return null;
  const { value } = node;
  if (typeof value === 'number') return Number.isFinite(value) ? value : (node.source ?? String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
