import { type FileFault, type FilePosition, faultAt } from './file-fault.ts';
import { decodePointerStep, type JsonValue } from './json.ts';
import { parseYamlNode, type YamlNode, type YamlPair } from './yaml-node.ts';

/**
 * Parses a YAML document whose first line is line `firstLine` of its file.
 *
 * @throws {FileFault} if it is not YAML, or nested too deeply
 */
export function parseYaml(text: string, firstLine = 1, file?: string): YamlValue {
  return toYamlValue(parseYamlNode(text, { firstLine, file }), firstLine, file);
}

/** Returns the value of a document from `parseYamlNode`. */
export function toYamlValue(root: YamlNode | null, firstLine = 1, file?: string): YamlValue {
  return createYamlValue(root, { line: firstLine, column: 1 }, { file, readCount: 0 });
}

/** A key with its value. */
export interface YamlEntry extends FilePosition {
  readonly key: string;
  /** The index of the key's first character. */
  readonly offset: number;
  readonly value: YamlValue;
}

export type YamlEntries = ReadonlyMap<string, YamlEntry>;

/**
 * Maximum number of values within one value with its aliases expanded, and in total for one
 * document.
 */
const MAX_YAML_VALUES = 50_000;
const MAX_VALUES_READ = 2_000_000;
const MAX_YAML_DEPTH = 200;

/** The document of a value. */
interface YamlSource {
  readonly file: string | undefined;
  readCount: number;
}

/** Returns the value of a node; one that is empty or has no position gets the default one. */
function createYamlValue(
  node: YamlNode | null,
  defaultPosition: FilePosition,
  source: YamlSource,
): YamlValue {
  const { line, column } = isEmptyNode(node) || node?.line === undefined ? defaultPosition : node;
  return new YamlValue(
    node,
    { line: line ?? defaultPosition.line, column: column ?? defaultPosition.column },
    source,
  );
}

/**
 * A value in a YAML text with its position. `__proto__` is a key like any other. The methods throw
 * FileFault if the value is of another kind.
 */
export class YamlValue implements FilePosition {
  readonly line: number;
  readonly column: number;
  readonly file: string | undefined;
  /** null if it is missing. */
  readonly #node: YamlNode | null;
  readonly #source: YamlSource;

  constructor(node: YamlNode | null, { line, column }: FilePosition, source: YamlSource) {
    this.line = line;
    this.column = column;
    this.file = source.file;
    this.#node = node;
    this.#source = source;
  }

  /** True if the value is missing or null. */
  get isEmpty(): boolean {
    return isEmptyNode(this.#node);
  }

  /** True if the value is the word `null`. */
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
   * Returns the entries of a map in order; none if it is empty.
   *
   * @param faults collects duplicate keys, which are left out; default the first one throws
   * @throws {FileFault} if it is not a map, or has a duplicate key
   */
  readEntries(name: string, faults?: FileFault[]): YamlEntry[] {
    if (this.isEmpty) return [];
    if (this.#node?.kind !== 'map') throw faultAt(this, `${name} must be a map of keys to values`);

    const entries = new Map<string, YamlEntry>();
    for (const entry of this.#node.entries.map(pair => this.#createEntry(pair))) {
      if (entries.has(entry.key)) {
        const fault = faultAt(entry, `\`${entry.key}\` appears twice in ${name}`);
        if (!faults) throw fault;
        faults.push(fault);
      } else {
        entries.set(entry.key, entry);
      }
    }

    return [...entries.values()];
  }

  /** Returns the values of a map by key, each with the position of its key. */
  readValuesByKey(name: string): Map<string, YamlValue> {
    const entries = this.readEntries(name);
    return new Map(
      entries.map(entry => [entry.key, new YamlValue(entry.value.#node, entry, this.#source)]),
    );
  }

  readItems(name: string): YamlValue[] {
    if (this.#node?.kind !== 'list') throw faultAt(this, `${name} must be a list`);
    return this.#node.items.map(item => createYamlValue(item, this, this.#source));
  }

  /** Returns a text; numbers and booleans as written. */
  readText(name: string): string {
    const text = this.scalar;
    if (text === undefined) throw faultAt(this, `${name} must be text`);
    return text;
  }

  /**
   * Returns a text that a database can store.
   *
   * @throws {FileFault} if it holds NUL, which YAML writes as `"\0"`
   */
  readStorableText(name: string): string {
    const text = this.readText(name);
    if (text.includes('\0')) {
      throw faultAt(this, `${name} can't hold the character NUL (U+0000): remove it`);
    }
    return text;
  }

  /** The scalar as written; undefined for a list, a map or an empty value. */
  get scalar(): string | undefined {
    if (this.isEmpty || this.#node?.kind !== 'scalar') return undefined;
    const { value, source } = this.#node;
    return typeof value === 'string' ? value : (source ?? String(value));
  }

  /** Returns the value as JSON. @throws {FileFault} if its aliases make it too large */
  toJson(): JsonValue {
    let valueCount = 0;
    const convert = (value: YamlValue, depth: number): JsonValue => {
      valueCount += 1;
      this.#source.readCount += 1;

      if (valueCount > MAX_YAML_VALUES || this.#source.readCount > MAX_VALUES_READ) {
        throw faultAt(value, 'with its aliases written out, this is too large');
      }

      if (depth > MAX_YAML_DEPTH) throw faultAt(value, 'this is nested too deeply');

      if (value.#node?.kind === 'map') {
        const entries = value.readEntries('this map');
        return Object.fromEntries(
          entries.map(entry => [entry.key, convert(entry.value, depth + 1)]),
        );
      }

      if (value.#node?.kind === 'list') {
        return value.readItems('this list').map(item => convert(item, depth + 1));
      }

      return convertScalar(value.#node);
    };
    return convert(this, 0);
  }

  /** Returns the value at a JSON Pointer, or its nearest existing ancestor. */
  findAt(pointer: string): YamlValue {
    const [, step, ...rest] = pointer.split('/');
    const child = step === undefined ? undefined : this.#findChild(decodePointerStep(step));
    return child ? child.findAt(['', ...rest].join('/')) : this;
  }

  #findChild(name: string): YamlValue | undefined {
    const item = this.#node?.kind === 'list' ? this.#node.items[Number(name)] : undefined;
    if (item !== undefined) return createYamlValue(item, this, this.#source);
    if (this.#node?.kind !== 'map') return undefined;
    const pair = this.#node.entries.find(({ key }) => key === name);
    return pair && this.#createEntry(pair).value;
  }

  #createEntry({
    key,
    offset,
    line = this.line,
    column = this.column,
    value: node,
  }: YamlPair): YamlEntry {
    const position = { line, column, file: this.file };
    return { key, offset, ...position, value: createYamlValue(node, position, this.#source) };
  }
}

function isEmptyNode(node: YamlNode | null): boolean {
  return node === null || (node.kind === 'scalar' && node.value === null);
}

function convertScalar(node: YamlNode | null): JsonValue {
  if (node?.kind !== 'scalar') return null;
  const { value } = node;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : (node.source ?? String(value));
  }
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
