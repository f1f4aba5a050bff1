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
  parseDocument,
  visit,
} from 'yaml';
import { FileFault, faultAt, type Place } from './file-fault.ts';

/** A value of a document as plain data, which another process can hand over; what is written once is there once. */
export type YamlNode = YamlScalar | YamlMap | YamlList;

interface YamlScalar extends Position {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** As it is written, if the value is not a text. */
  readonly source: string | undefined;
}

interface YamlMap extends Position {
  readonly kind: 'map';
  readonly entries: YamlPair[];
}

interface YamlList extends Position {
  readonly kind: 'list';
  readonly items: (YamlNode | null)[];
}

export interface YamlPair extends Position {
  readonly key: string;
  /** Where the key begins, in characters. */
  readonly offset: number;
  /** null if nothing is written. */
  readonly value: YamlNode | null;
}

/** Undefined if a node has no place of its own. */
interface Position {
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/**
 * Parses one YAML document whose first line is line `firstLine` of its file; null if nothing is written.
 *
 * @throws {FileFault} for what is not YAML, or nested too deeply
 */
export function yamlNodeOf(text: string, firstLine = 1, file?: string): YamlNode | null {
  if (isNestedTooDeeply(text)) throw new FileFault(firstLine, 'this is nested too deeply', 1, file);
  const lines = new LineCounter();
  // The parser compares each key with every other; that is quadratic, so it is left to the reader.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(text, options);
  const placeAt = (offset: number): Place & { column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: line + firstLine - 1, column: Math.max(col, 1), file };
  };
  // What the parser makes of the rest of a broken text is of no help.
  const [error] = document.errors;
  if (error) throw faultAt(placeAt(error.pos[0]), `this is not YAML: ${error.message}`);
  return plainNode(document, placeAt);
}

function plainNode(document: Document, placeAt: (offset: number) => { line: number; column: number }) {
  const aliases = resolveAliases(document);
  const made = new Map<Node, YamlNode>();
  const positionOf = (node: unknown): Position => {
    const start = (node as Node | null)?.range?.[0];
    const { line, column } = start === undefined ? {} : placeAt(start);
    return { line, column };
  };
  const convert = (node: unknown): YamlNode | null => {
    const settled = isAlias(node) ? aliases.get(node) : (node as Node | null);
    if (!settled) return null;
    const known = made.get(settled);
    if (known !== undefined) return known;
    const plain = begun(settled, positionOf(settled));
    made.set(settled, plain);
    // Below here an alias may lead back to it.
    if (isSeq(settled) && plain.kind === 'list') {
      for (const item of settled.items) plain.items.push(convert(item));
    }
    if (isMap(settled) && plain.kind === 'map') {
      for (const { key, value } of settled.items) {
        const offset = (key as Node).range?.[0] ?? 0;
        const name = isScalar(key) ? keyText(key.value, key.source) : '';
        plain.entries.push({ key: name, offset, ...positionOf(key), value: convert(value) });
      }
    }
    return plain;
  };
  return convert(document.contents);
}

/** A node without what is in it. */
function begun(node: Node, position: Position): YamlNode {
  if (isMap(node)) return { kind: 'map', entries: [], ...position };
  if (isSeq(node)) return { kind: 'list', items: [], ...position };
  const { value, source } = isScalar(node) ? node : { value: null, source: undefined };
  return { kind: 'scalar', value, source: typeof value === 'string' ? undefined : source, ...position };
}

export function keyText(value: unknown, source: string | undefined): string {
  return typeof value === 'string' ? value : (source ?? String(value));
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
