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
import { FileFault, type FilePosition, faultAt } from './file-fault.ts';

/** A value of a document as plain data, which can be sent between processes. Aliases share one node. */
export type YamlNode = YamlScalar | YamlMap | YamlList;

interface YamlScalar extends Position {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** The source text, if the value is not a string. */
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
  /** The index of the key's first character. */
  readonly offset: number;
  /** null if it is missing. */
  readonly value: YamlNode | null;
}

/** A position; undefined for a node without one. */
interface Position {
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/**
 * Parses a YAML document whose first line is line `firstLine` of its file; null if it is empty.
 *
 * @throws {FileFault} if it is not YAML, or nested too deeply
 */
export function yamlNodeOf(text: string, firstLine = 1, file?: string): YamlNode | null {
  if (isNestedTooDeeply(text)) throw new FileFault(firstLine, 'this is nested too deeply', 1, file);
  const lines = new LineCounter();
  // The parser's check for equal keys takes quadratic time, so YamlValue does it.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(text, options);
  const placeAt = (offset: number): FilePosition & { column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: line + firstLine - 1, column: Math.max(col, 1), file };
  };
  // After the first error the parser's output is of no use.
  const [error] = document.errors;
  if (error) throw faultAt(placeAt(error.pos[0]), `this is not YAML: ${error.message}`);
  return plainNode(document, placeAt);
}

function plainNode(document: Document, placeAt: (offset: number) => { line: number; column: number }) {
  const aliases = resolveAliases(document);
  const shared = new Set(aliases.values());
  // Only nodes that aliases refer to: a map of all would take a hundred MB for a long file.
  const made = new Map<Node, YamlNode>();
  const positionOf = (node: unknown): Position => {
    const start = (node as Node | null)?.range?.[0];
    const { line, column } = start === undefined ? {} : placeAt(start);
    return { line, column };
  };
  const convert = (node: unknown): YamlNode | null => {
    const resolved = isAlias(node) ? aliases.get(node) : (node as Node | null);
    if (!resolved) return null;
    const known = made.get(resolved);
    if (known !== undefined) return known;
    const plain = withoutChildren(resolved, positionOf(resolved));
    if (shared.has(resolved)) made.set(resolved, plain);
    // Set before its children, because an alias among them may refer to it.
    if (isSeq(resolved) && plain.kind === 'list') {
      for (const item of resolved.items) plain.items.push(convert(item));
    }
    if (isMap(resolved) && plain.kind === 'map') {
      for (const { key, value } of resolved.items) {
        const offset = (key as Node).range?.[0] ?? 0;
        const name = isScalar(key) ? keyText(key.value, key.source) : '';
        plain.entries.push({ key: name, offset, ...positionOf(key), value: convert(value) });
      }
    }
    return plain;
  };
  return convert(document.contents);
}

/** Returns a node without its children. */
function withoutChildren(node: Node, position: Position): YamlNode {
  if (isMap(node)) return { kind: 'map', entries: [], ...position };
  if (isSeq(node)) return { kind: 'list', items: [], ...position };
  const { value, source } = isScalar(node) ? node : { value: null, source: undefined };
  return { kind: 'scalar', value, source: typeof value === 'string' ? undefined : source, ...position };
}

/** Returns a key or scalar as text. */
export function keyText(value: unknown, source: string | undefined): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

/** Maximum nesting: the parser is recursive, and thousands of levels would overflow the stack. */
const MAX_LEVELS = 1000;

/** Returns true if a text is nested too deeply. The lexer is not recursive. */
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

/** Resolves all aliases in one pass: each means the last node before it with its anchor. */
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
