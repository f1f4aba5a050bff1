import {
  type Alias,
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
  type Scalar,
  type YAMLParseError,
} from 'yaml';
import { FileFault, type FilePosition, faultAt } from './file-fault.ts';
import { isJsonList, type JsonValue } from './json.ts';

/**
 * A value of a document as plain data, which can be sent between processes. Aliases share one node.
 */
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

const NO_POSITION: Position = { line: undefined, column: undefined };

const NULL_SCALAR: Pick<Scalar, 'value' | 'source' | 'type' | 'range'> = { value: null };

/** Maximum nesting: the parser is recursive, and thousands of levels would overflow the stack. */
const MAX_LEVELS = 1000;

/** Matches levels on one line, as in `- - - x`. */
const MANY_LEVELS_ON_A_LINE = /(?:[-?:][ \t]+){200}/;

const DEEP_INDENTATION = /^[ \t]{1000}/m;

export interface ParseYamlOptions {
  /** The line of its file at which the text begins; default 1. */
  readonly firstLine?: number;
  /** The file, for faults; default the one that is being read. */
  readonly file?: string | undefined;
  /**
   * True to add no line break to a block of text if the file ends without one, as in libyaml and
   * its ports; default false, as in js-yaml.
   */
  readonly keepsOpenEnd?: boolean;
}

/**
 * Parses a YAML document; null if it is empty.
 *
 * @throws {FileFault} if it is not YAML, or nested too deeply
 */
export function parseYamlNode(
  text: string,
  { firstLine = 1, file, keepsOpenEnd = false }: ParseYamlOptions = {},
): YamlNode | null {
  if (isNestedTooDeeply(text)) throw new FileFault(firstLine, 'this is nested too deeply', 1, file);

  const lines = new LineCounter();

  // The parser's check for equal keys takes quadratic time, so YamlValue does it.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const document = parseDocument(text, options);

  const getPosition = (offset: number): FilePosition & { column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: line + firstLine - 1, column: Math.max(col, 1), file };
  };

  // After the first error the parser's output is of no use.
  const [error] = document.errors;
  if (error) {
    throw faultAt(getPosition(error.pos[0]), `this is not YAML: ${describeYamlError(error)}`);
  }

  const endsMidLine = keepsOpenEnd && text.slice(text.lastIndexOf('\n') + 1).trim() !== '';
  return convertNode(document, getPosition, endsMidLine ? text.length : undefined);
}

/**
 * Returns the node of a value that was never written as text, at a line of the file that it was
 * made from.
 */
export function toYamlNode(value: JsonValue, line: number): YamlNode {
  const position = { line, column: 1 };
  if (isJsonList(value)) {
    return { kind: 'list', items: value.map(item => toYamlNode(item, line)), ...position };
  }

  if (typeof value === 'object' && value !== null) {
    return toMapNode(
      Object.entries(value).map(([key, item]) => [key, toYamlNode(item, line)]),
      line,
    );
  }

  return {
    kind: 'scalar',
    value,
    source: typeof value === 'string' ? undefined : String(value),
    ...position,
  };
}

/** Returns the node of a map with these nodes as values. */
export function toMapNode(
  nodes: readonly (readonly [key: string, YamlNode])[],
  line: number,
): YamlNode {
  const position = { line, column: 1 };
  const entries = nodes.map(([key, value], offset) => ({ key, offset, value, ...position }));
  return { kind: 'map', entries, ...position };
}

/** Describes an error of the parser; its words on a second document advise programmers. */
export function describeYamlError({ code, message }: YAMLParseError): string {
  return code === 'MULTIPLE_DOCS' ? 'a document too many' : message;
}

/**
 * Converts the parser's nodes to plain data.
 *
 * @param openEndOffset the end of a file without a line break at its end, which a block of text
 * must not gain
 */
function convertNode(
  document: Document,
  getPosition: (offset: number) => { line: number; column: number },
  openEndOffset: number | undefined,
) {
  // An alias means the last node before it with its anchor.
  const nodesByAnchor = new Map<string, YamlNode>();
  const createNode = (node: Exclude<Node, Alias>): YamlNode => {
    const start = node.range?.[0];
    const ownNode = withoutChildren(
      node,
      start === undefined ? NO_POSITION : getPosition(start),
      openEndOffset,
    );
    // Set before its children, because an alias among them may refer to it.
    if (node.anchor) nodesByAnchor.set(node.anchor, ownNode);
    return ownNode;
  };

  const convert = (node: Node | null): YamlNode | null => {
    if (isAlias(node)) return nodesByAnchor.get(node.source) ?? null;
    if (!node) return null;

    const ownNode = createNode(node);
    if (isSeq<Node | null>(node) && ownNode.kind === 'list') {
      for (const item of node.items) ownNode.items.push(convert(item));
    }

    // Other keys are errors with `stringKeys`.
    if (isMap<Scalar<string>, Node | null>(node) && ownNode.kind === 'map') {
      for (const { key, value } of node.items) {
        const { line, column } = createNode(key);
        const child = convert(value);
        ownNode.entries.push({
          key: key.value,
          offset: key.range?.[0] ?? 0,
          line,
          column,
          value: child,
        });
      }
    }

    return ownNode;
  };

  return convert(document.contents);
}

function withoutChildren(
  node: Node,
  { line, column }: Position,
  openEndOffset: number | undefined,
): YamlNode {
  if (isMap(node)) return { kind: 'map', entries: [], line, column };
  if (isSeq(node)) return { kind: 'list', items: [], line, column };

  const { value, source, type, range } = isScalar(node) ? node : NULL_SCALAR;
  if (typeof value !== 'string') return { kind: 'scalar', value, source, line, column };

  const reachesOpenEnd =
    type?.startsWith('BLOCK_') && openEndOffset !== undefined && range?.[1] === openEndOffset;
  return {
    kind: 'scalar',
    value: reachesOpenEnd ? value.replace(/\n$/u, '') : value,
    source: undefined,
    line,
    column,
  };
}

/** Returns true if a text is nested too deeply for the parser. The lexer is not recursive. */
export function isNestedTooDeeply(text: string): boolean {
  if (MANY_LEVELS_ON_A_LINE.test(text) || DEEP_INDENTATION.test(text)) return true;

  // Lists and maps in brackets. Most texts have too few brackets to need the lexer.
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
