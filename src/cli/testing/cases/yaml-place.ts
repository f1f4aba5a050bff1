import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
} from 'yaml';
import { CliError, usageError } from '../../errors.ts';
import { NamedFileFault } from '../../inputs/named-file.ts';

/** The entries of a map by their keys. */
export type YamlEntries = ReadonlyMap<string, { readonly key: Node; readonly node: Node }>;

/** A YAML document whose faults are reported with file and line. */
export class YamlPlace {
  readonly contents: ParsedNode | null;
  readonly #document: Document.Parsed;
  readonly #lines = new LineCounter();

  /**
   * @param file as errors name it
   * @throws {CliError} USAGE_ERROR for what is not YAML
   */
  constructor(
    source: string,
    readonly file: string,
  ) {
    this.#document = parseDocument(source, { lineCounter: this.#lines, prettyErrors: false });
    this.contents = this.#document.contents;
    const [fault] = this.#document.errors;
    if (fault !== undefined) throw this.#faultAt(fault.pos[0], fault.message);
  }

  /** The line a node begins on, from 1. */
  lineOf(node: unknown): number {
    return this.#lines.linePos(this.offsetOf(node)).line;
  }

  /** Where a node begins, in characters. */
  offsetOf(node: unknown): number {
    return (node as Node | null | undefined)?.range?.[0] ?? 0;
  }

  fault(node: unknown, message: string, ...hints: string[]): CliError {
    return this.#faultAt(this.offsetOf(node), message, hints);
  }

  /** What went wrong with something that a node names, with its place; a file that must not be read stays that. */
  located(node: unknown, error: unknown, reworded: (message: string) => string): unknown {
    if (error instanceof NamedFileFault) return error.at(`${this.file}, line ${this.lineOf(node)}`);
    if (!(error instanceof Error) || error.message.startsWith(this.file)) return error;
    return this.fault(node, reworded(error.message), ...(error instanceof CliError ? error.hints : []));
  }

  #faultAt(offset: number, message: string, hints: readonly string[] = []): CliError {
    return usageError(`${this.file}, line ${this.#lines.linePos(offset).line}: ${message}`, ...hints);
  }

  /** The value of a node as plain data. */
  value(node: unknown): unknown {
    return (node as Node | null)?.toJS(this.#document, { maxAliasCount: 100 }) ?? null;
  }

  /** The entries of a map, refusing keys that are not among the known ones; without a value, the key stands for it. */
  entries(node: unknown, what: string, known?: readonly string[]): YamlEntries {
    if (!isMap(node)) throw this.fault(node, `${what} must be a map of keys to values`);
    const entries = new Map<string, { key: Node; node: Node }>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (known?.includes(name) === false) {
        throw this.fault(key, `${what} has no key ${JSON.stringify(name)}; it takes ${known.join(', ')}`);
      }
      entries.set(name, { key: key as Node, node: (value ?? key) as Node });
    }
    return entries;
  }

  list(node: unknown, what: string): readonly unknown[] {
    if (!isSeq(node)) throw this.fault(node, `${what} must be a list`);
    return node.items;
  }

  text(node: unknown, what: string): string {
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
    return this.#scalar(node, `${what} must be a text`, isText);
  }

  /** A text, or a number, true or false as it was written. */
  word(node: unknown, what: string): string {
    const isText = !isScalar(node) || typeof node.value === 'string';
    return isText ? this.text(node, what) : this.inputText(node, what);
  }

  /** A number of at least 0. */
  amount(node: unknown, what: string): number {
    return this.#number(node, `${what} must be a number of 0 or more`, value => value >= 0);
  }

  /** A whole number of at least 1. */
  count(node: unknown, what: string): number {
    const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
    return this.#number(node, `${what} must be a whole number of 1 or more`, isCount);
  }

  number(node: unknown, what: string): number {
    return this.#number(node, `${what} must be a number above 0`, value => value > 0);
  }

  #number(node: unknown, message: string, isRight: (value: number) => boolean): number {
    return this.#scalar(
      node,
      message,
      (value): value is number => typeof value === 'number' && isRight(value),
    );
  }

  #scalar<T>(node: unknown, message: string, isRight: (value: unknown) => value is T): T {
    if (isScalar(node) && isRight(node.value)) return node.value;
    throw this.fault(node, message);
  }

  /** A value as `--input` takes it: scalars as they were written, lists and maps as JSON. */
  inputText(node: unknown, what: string): string {
    if (!isScalar(node)) return JSON.stringify(this.value(node));
    const { value, source } = node;
    if (value === null) throw this.fault(node, `${what} is null; give a value, or leave the input out`);
    return typeof value === 'string' ? value : (source ?? JSON.stringify(value));
  }
}
