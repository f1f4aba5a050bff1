import { isAlias, isCollection, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { FileFault, type Place } from './file-fault.ts';
import type { JsonValue } from './json.ts';

export interface YamlEntry extends Place {
  readonly key: string;
  readonly value: YamlValue;
}

/** Values that one value may hold once its aliases are written out, and all that are read of one document. */
const MAX_VALUES = 50_000;
const MAX_VALUES_READ = 250_000;
const MAX_DEPTH = 200;

/** The document that values are of. */
interface Source {
  readonly file: string | undefined;
  readonly aliases: ReadonlyMap<Node, Node>;
  readonly placeAt: (offset: number) => Place;
  valuesRead: number;
}

/** The value of a node; where nothing is written it stands at `otherwise`. */
export function valueOf(node: unknown, otherwise: Place, source: Source): YamlValue {
  const settled = isAlias(node) ? (source.aliases.get(node) ?? null) : (node as Node | null);
  const start = settled?.range?.[0];
  const place = start === undefined || isEmptyNode(settled) ? otherwise : source.placeAt(start);
  return new YamlValue(settled, place, source);
}

/**
 * A value in a YAML text and the place it stands at. Own names only, so `__proto__` is a key like any other. The methods
 * throw FileFault for a value of another kind.
 */
export class YamlValue implements Place {
  readonly line: number;
  readonly column: number;
  readonly #source: Source;

  constructor(
    /** null where nothing was written. */
    readonly node: Node | null,
    { line, column }: Place,
    source: Source,
  ) {
    this.line = line;
    this.column = column;
    this.#source = source;
  }

  /** As faults name it. */
  get file(): string | undefined {
    return this.#source.file;
  }

  /** Whether nothing, or null, was written. */
  get isEmpty(): boolean {
    return isEmptyNode(this.node);
  }

  /**
   * The entries of a map in order; none if nothing was written.
   *
   * @param faults takes in a key that stands there twice, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a key that stands there twice too
   */
  entries(name: string, faults?: FileFault[]): YamlEntry[] {
    if (this.isEmpty) return [];
    if (!isMap(this.node)) throw faultAt(this, `${name} must be a map of keys to values`);
    const entries = new Map<string, YamlEntry>();
    for (const entry of this.node.items.map(pair => this.#entry(pair))) {
      const isFirst = !entries.has(entry.key);
      const fault = isFirst
        ? undefined
        : faultAt({ ...entry, file: this.file }, `\`${entry.key}\` stands in ${name} twice`);
      if (fault && !faults) throw fault;
      if (fault) faults?.push(fault);
      else entries.set(entry.key, entry);
    }
    return [...entries.values()];
  }

  /** The values of a map by their keys, each where its key stands. */
  valuesByKey(name: string): Map<string, YamlValue> {
    const entries = this.entries(name);
    return new Map(entries.map(entry => [entry.key, new YamlValue(entry.value.node, entry, this.#source)]));
  }

  /** The items of a list. */
  items(name: string): YamlValue[] {
    if (!isSeq(this.node)) throw faultAt(this, `${name} must be a list, such as [one, two]`);
    return this.node.items.map(item => valueOf(item, this, this.#source));
  }

  /** A text; numbers and booleans as they are written. */
  text(name: string): string {
    const text = this.scalar;
    if (text === undefined) throw faultAt(this, `${name} must be a text`);
    return text;
  }

  /** A scalar as it is written; undefined for a list or a map, and for nothing. */
  get scalar(): string | undefined {
    return this.isEmpty ? undefined : textOfScalar(this.node);
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
      if (isMap(value.node)) {
        const entries = value.entries('this map');
        return Object.fromEntries(entries.map(entry => [entry.key, convert(entry.value, depth + 1)]));
      }
      if (isSeq(value.node)) return value.items('this list').map(item => convert(item, depth + 1));
      return jsonOfScalar(value.node);
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
    if (isSeq(this.node)) {
      const item = this.node.items[Number(name)];
      return item === undefined ? undefined : valueOf(item, this, this.#source);
    }
    if (!isMap(this.node)) return undefined;
    const pair = this.node.items.find(pair => textOfScalar(pair.key) === name);
    return pair && this.#entry(pair).value;
  }

  #entry(pair: Pair): YamlEntry {
    const key = pair.key as Node;
    const { line, column } = key.range ? this.#source.placeAt(key.range[0]) : this;
    const value = valueOf(pair.value, { line, column }, this.#source);
    return { key: textOfScalar(key) ?? '', line, column, value };
  }
}

export function faultAt(
  { line, column, file }: Place & { readonly file?: string | undefined },
  what: string,
): FileFault {
  return new FileFault(line, what, column, file);
}

function isEmptyNode(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function textOfScalar(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined;
  if (typeof node.value === 'string') return node.value;
  return node.source ?? String(node.value);
}

function jsonOfScalar(node: Node | null): JsonValue {
  if (!isScalar(node) || isCollection(node)) return null;
  const { value } = node;
  if (typeof value === 'number') return Number.isFinite(value) ? value : (node.source ?? String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
