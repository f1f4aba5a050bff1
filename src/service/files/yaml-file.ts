import {
  CST,
  type Document,
  isAlias,
  isCollection,
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
import { FileFault, type Place } from './file-fault.ts';
import type { JsonValue } from './json.ts';

export { FileFault, type Place } from './file-fault.ts';

/** A value in a YAML text and the place it stands at. */
export interface YamlValue extends Place {
  /** null where nothing was written. */
  readonly node: Node | null;
}

export interface YamlEntry extends Place {
  readonly key: string;
  readonly value: YamlValue;
}

interface ParsedYaml {
  readonly root: YamlValue;
  readonly read: YamlReader;
  /** What is not YAML. */
  readonly faults: readonly FileFault[];
}

/** Parses one YAML document whose first line is line `firstLine` of its file. Throws FileFault. */
export function parseYaml(text: string, firstLine = 1): ParsedYaml {
  const parsed = parseYamlWithFaults(text, firstLine);
  const [fault] = parsed.faults;
  if (fault) throw fault;
  return parsed;
}

/** As `parseYaml`, with the fault instead of an error. */
export function parseYamlWithFaults(text: string, firstLine = 1): ParsedYaml {
  const tooDeep = isNestedTooDeeply(text);
  const lines = new LineCounter();
  // The parser compares each key with every other; that is quadratic, so it is left to the reader.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(tooDeep ? '' : text, options);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: line + firstLine - 1, column: Math.max(col, 1) };
  };
  const faults = tooDeep
    ? [new FileFault(firstLine, 'this is nested too deeply')]
    : // What the parser makes of the rest of a broken text is of no help.
      document.errors.slice(0, 1).map(error => {
        const { line, column } = placeAt(error.pos[0]);
        return new FileFault(line, `this is not YAML: ${error.message}`, column);
      });
  const anchors = faults.length > 0 ? new Map<Node, Node>() : resolveAliases(document);
  const read = new YamlReader(anchors, placeAt);
  return { root: read.value(document.contents, { line: firstLine, column: 1 }), read, faults };
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

/** Values that one value may hold once its aliases are written out, and all that are read of one document. */
const MAX_VALUES = 50_000;
const MAX_VALUES_READ = 250_000;
const MAX_DEPTH = 200;

/** Reads maps, lists and scalars with the place each came from; own names only, so `__proto__` is a key like any other. */
export class YamlReader {
  private valuesRead = 0;

  constructor(
    private readonly aliases: ReadonlyMap<Node, Node>,
    private readonly placeAt: (offset: number) => Place,
  ) {}

  value(node: unknown, otherwise: Place): YamlValue {
    const settled = isAlias(node) ? (this.aliases.get(node) ?? null) : (node as Node | null);
    const start = settled?.range?.[0];
    const place = start === undefined || isEmptyNode(settled) ? otherwise : this.placeAt(start);
    return { node: settled, line: place.line, column: place.column };
  }

  /**
   * The entries of a map in order; none if nothing was written.
   *
   * @param faults takes in a key that stands there twice, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a key that stands there twice too
   */
  entries(value: YamlValue, name: string, faults?: FileFault[]): YamlEntry[] {
    if (isEmpty(value)) return [];
    if (!isMap(value.node)) throw faultAt(value, `${name} must be a map of keys to values`);
    const entries = new Map<string, YamlEntry>();
    for (const entry of value.node.items.map(pair => this.entry(pair, value))) {
      const isFirst = !entries.has(entry.key);
      const fault = isFirst ? undefined : faultAt(entry, `\`${entry.key}\` stands in ${name} twice`);
      if (fault && !faults) throw fault;
      if (fault) faults?.push(fault);
      else entries.set(entry.key, entry);
    }
    return [...entries.values()];
  }

  /** The items of a list. */
  items(value: YamlValue, name: string): YamlValue[] {
    if (!isSeq(value.node)) throw faultAt(value, `${name} must be a list, such as [one, two]`);
    return value.node.items.map(item => this.value(item, value));
  }

  /** A text; numbers and booleans as they are written. */
  text(value: YamlValue, name: string): string {
    const text = isEmpty(value) ? undefined : textOfScalar(value.node);
    if (text === undefined) throw faultAt(value, `${name} must be a text`);
    return text;
  }

  /** The value as JSON would write it. Throws FileFault for what aliases make too large. */
  json(value: YamlValue): JsonValue {
    let values = 0;
    const convert = (value: YamlValue, depth: number): JsonValue => {
      values += 1;
      this.valuesRead += 1;
      if (values > MAX_VALUES || this.valuesRead > MAX_VALUES_READ) {
        throw faultAt(value, 'with its aliases written out, this is too large');
      }
      if (depth > MAX_DEPTH) throw faultAt(value, 'this is nested too deeply');
      const { node } = value;
      if (isMap(node)) {
        const entries = this.entries(value, 'this map');
        return Object.fromEntries(entries.map(entry => [entry.key, convert(entry.value, depth + 1)]));
      }
      if (isSeq(node)) return node.items.map(item => convert(this.value(item, value), depth + 1));
      return jsonOfScalar(node);
    };
    return convert(value, 0);
  }

  /** The value a JSON Pointer leads to, or the last one on the way that is there. */
  at(value: YamlValue, pointer: string): YamlValue {
    let here = value;
    for (const step of pointer.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const next = this.child(here, name);
      if (!next) return here;
      here = next;
    }
    return here;
  }

  private child(value: YamlValue, name: string): YamlValue | undefined {
    const { node } = value;
    if (isSeq(node)) {
      const item = node.items[Number(name)];
      return item === undefined ? undefined : this.value(item, value);
    }
    if (!isMap(node)) return undefined;
    const pair = node.items.find(pair => textOfScalar(pair.key) === name);
    return pair && this.entry(pair, value).value;
  }

  private entry(pair: Pair, map: YamlValue): YamlEntry {
    const key = pair.key as Node;
    const place = key.range ? this.placeAt(key.range[0]) : map;
    const { line, column } = place;
    return { key: textOfScalar(key) ?? '', line, column, value: this.value(pair.value, { line, column }) };
  }
}

export function faultAt({ line, column }: Place, what: string): FileFault {
  return new FileFault(line, what, column);
}

/** Whether nothing, or null, was written. */
export function isEmpty(value: YamlValue): boolean {
  return isEmptyNode(value.node);
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
