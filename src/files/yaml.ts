import {
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { FileFault, faultAt, type Place } from './file-fault.ts';
import type { JsonValue } from './json.ts';

/**
 * Parses one YAML document whose first line is line `firstLine` of its file.
 *
 * @throws {FileFault} for what is not YAML, or nested too deeply
 */
export function parseYaml(text: string, firstLine = 1, file?: string): YamlValue {
  if (isNestedTooDeeply(text)) throw new FileFault(firstLine, 'this is nested too deeply', 1, file);
  const lines = new LineCounter();
  // The parser compares each key with every other; that is quadratic, so it is left to the reader.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(text, options);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: line + firstLine - 1, column: Math.max(col, 1), file };
  };
  // What the parser makes of the rest of a broken text is of no help.
  const [error] = document.errors;
  if (error) throw faultAt(placeAt(error.pos[0]), `this is not YAML: ${error.message}`);
  const source = { file, aliases: resolveAliases(document), placeAt, valuesRead: 0 };
  return valueOf(document.contents, { line: firstLine, column: 1 }, source);
}

/** The parser calls itself for each level; thousands of them would end the process. */
const MAX_LEVELS = 1000;

/** The lexer calls itself for none. */
function isNestedTooDeeply(text: string): boolean {
  if (/(?:[-?:][ \t]+){200}/.test(text) || /^[ \t]{1000}/m.test(text)) return true;
  if (text.split(/[[{]/).length <= MAX_LEVELS) return false;
  let level = 0;
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    if (type === 'flow-seq-start' || type === 'flow-map-start') level += 1;
    if (type === 'flow-seq-end' || type === 'flow-map-end') level -= 1;
    if (level > MAX_LEVELS) return true;
  }
  return false;
}

/** What each alias stands for, found in one pass: the last node of its anchor before it. */
function resolveAliases(document: Document): Map<Node, Node> {
  const anchored = new Map<string, Node>();
  const resolved = new Map<Node, Node>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = anchored.get(node.source);
        if (target) resolved.set(node, target);
      } else if (node.anchor) {
        anchored.set(node.anchor, node);
      }
    },
  });
  return resolved;
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
  readonly aliases: ReadonlyMap<Node, Node>;
  readonly placeAt: (offset: number) => Place;
  valuesRead: number;
}

/** The value of a node; where nothing is written it stands at `otherwise`. */
function valueOf(node: unknown, otherwise: Place, source: Source): YamlValue {
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
  readonly file: string | undefined;
  /** null where nothing was written. */
  readonly #node: Node | null;
  readonly #source: Source;

  constructor(node: Node | null, { line, column }: Place, source: Source) {
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
    return isScalar(this.#node) && this.#node.source === 'null';
  }

  get isMap(): boolean {
    return isMap(this.#node);
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  /**
   * The entries of a map in order; none if nothing was written.
   *
   * @param faults takes in a key that stands there twice, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a key that stands there twice too
   */
  entries(name: string, faults?: FileFault[]): YamlEntry[] {
    if (this.isEmpty) return [];
    if (!isMap(this.#node)) throw faultAt(this, `${name} must be a map of keys to values`);
    const entries = new Map<string, YamlEntry>();
    for (const entry of this.#node.items.map(pair => this.#entry(pair))) {
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
    if (!isSeq(this.#node)) throw faultAt(this, `${name} must be a list, such as [one, two]`);
    return this.#node.items.map(item => valueOf(item, this, this.#source));
  }

  /** A text; numbers and booleans as they are written. */
  text(name: string): string {
    const text = this.scalar;
    if (text === undefined) throw faultAt(this, `${name} must be a text`);
    return text;
  }

  /** A scalar as it is written; undefined for a list or a map, and for nothing. */
  get scalar(): string | undefined {
    return this.isEmpty ? undefined : textOfScalar(this.#node);
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
      if (isMap(value.#node)) {
        const entries = value.entries('this map');
        return Object.fromEntries(entries.map(entry => [entry.key, convert(entry.value, depth + 1)]));
      }
      if (isSeq(value.#node)) return value.items('this list').map(item => convert(item, depth + 1));
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
    const item = isSeq(this.#node) ? this.#node.items[Number(name)] : undefined;
    if (item !== undefined) return valueOf(item, this, this.#source);
    if (!isMap(this.#node)) return undefined;
    const pair = this.#node.items.find(pair => textOfScalar(pair.key) === name);
    return pair && this.#entry(pair).value;
  }

  #entry({ key: node, value: written }: Pair): YamlEntry {
    const { range } = node as Node;
    const { line, column, file } = range ? this.#source.placeAt(range[0]) : this;
    const value = valueOf(written, { line, column }, this.#source);
    return { key: textOfScalar(node) ?? '', offset: range?.[0] ?? 0, line, column, file, value };
  }
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
  if (!isScalar(node)) return null;
  const { value } = node;
  if (typeof value === 'number') return Number.isFinite(value) ? value : (node.source ?? String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
