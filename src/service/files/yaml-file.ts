import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** Something wrong in a file, and where. */
export class FileFault extends Error {
  override readonly name = 'FileFault';

  constructor(
    /** From 1. */
    readonly line: number,
    /** What is wrong and how to mend it, without the place. */
    readonly what: string,
  ) {
    super(`line ${line}: ${what}`);
  }
}

/** A value in a YAML text and the line it stands at. */
export interface YamlValue {
  readonly line: number;
  /** null where nothing was written. */
  readonly node: Node | null;
}

export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly value: YamlValue;
}

/** Parses one YAML document whose first line is line `firstLine` of its file. Throws FileFault. */
export function parseYaml(text: string, firstLine = 1): { root: YamlValue; read: YamlReader } {
  if (isNestedTooDeeply(text)) throw new FileFault(firstLine, 'this is nested too deeply');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const lineAt = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  const [fault] = document.errors;
  if (fault) throw new FileFault(lineAt(fault.pos[0]), `this is not YAML: ${fault.message}`);
  const settle = (node: unknown): Node | null =>
    isAlias(node) ? (node.resolve(document) ?? null) : (node as Node | null);
  const read = new YamlReader(settle, lineAt);
  return { root: read.value(document.contents, firstLine), read };
}

/** The parser calls itself for each level; thousands of them would end the process. */
function isNestedTooDeeply(text: string): boolean {
  return text.split(/[[{]/).length > 2000 || /(?:[-?:][ \t]+){200}/.test(text);
}

/** Reads maps, lists and scalars with the line each came from; own names only, so `__proto__` is a key like any other. */
export class YamlReader {
  constructor(
    private readonly settle: (node: unknown) => Node | null,
    private readonly lineAt: (offset: number) => number,
  ) {}

  value(node: unknown, line: number): YamlValue {
    const settled = this.settle(node);
    const start = settled?.range?.[0];
    return { node: settled, line: start === undefined || isEmptyNode(settled) ? line : this.lineAt(start) };
  }

  /** The entries of a map in order; none where nothing was written. */
  entries(value: YamlValue, name: string): YamlEntry[] {
    if (isEmpty(value)) return [];
    if (!isMap(value.node)) throw new FileFault(value.line, `${name} must be a map of keys to values`);
    return value.node.items.map(pair => {
      const key = pair.key as Node;
      const line = key.range ? this.lineAt(key.range[0]) : value.line;
      return { key: textOfScalar(key) ?? '', line, value: this.value(pair.value, line) };
    });
  }

  /** The items of a list. */
  items(value: YamlValue, name: string): YamlValue[] {
    if (!isSeq(value.node)) throw new FileFault(value.line, `${name} must be a list, such as [one, two]`);
    return value.node.items.map(item => this.value(item, value.line));
  }

  /** A text; numbers and booleans as they are written. */
  text(value: YamlValue, name: string): string {
    const text = isEmpty(value) ? undefined : textOfScalar(value.node);
    if (text === undefined) throw new FileFault(value.line, `${name} must be a text`);
    return text;
  }
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
