import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { describeYamlError, isNestedTooDeeply } from '../../files/formats/yaml-node.ts';
import { usageError } from '../core/errors.ts';
import { Literal } from './json-as-written.ts';

/**
 * Parses YAML with every number and boolean as a `Literal`.
 *
 * @throws {CliError} USAGE_ERROR if the source is not YAML
 */
export function parseYamlAsWritten(source: string, sourceName: string): unknown {
  if (isNestedTooDeeply(source)) throw usageError(`${sourceName} is nested too deeply`);

  const lineCounter = new LineCounter();
  const document = parseDocument(source, {
    schema: 'core',
    lineCounter: lineCounter,
    prettyErrors: false,
  });

  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line } = lineCounter.linePos(fault.pos[0]);
    throw usageError(
      `${sourceName} is neither JSON nor YAML: line ${line}: ${describeYamlError(fault)}`,
    );
  }

  return readWrittenValue(
    document.contents,
    { document, aliasValues: new Map(), sourceName: sourceName },
    0,
  );
}

/** Maximum depth, deeper than any inputs; it also refuses an alias that contains itself. */
const MAX_WRITTEN_DEPTH = 64;

interface DocumentReading {
  readonly document: Document.Parsed;
  /**
   * The values of aliases, each read once: a few lines of aliases of aliases would fill the memory.
   */
  readonly aliasValues: Map<unknown, unknown>;
  /** The name of the source, with which messages begin. */
  readonly sourceName: string;
}

function readWrittenValue(node: unknown, reading: DocumentReading, depth: number): unknown {
  if (depth > MAX_WRITTEN_DEPTH) throw usageError(`${reading.sourceName} is nested too deeply`);
  if (isAlias(node)) return resolveAlias(node.resolve(reading.document), reading, depth + 1);

  if (isMap(node)) {
    return Object.fromEntries(
      node.items.map(({ key, value }) => [
        getScalarSource(key),
        readWrittenValue(value, reading, depth + 1),
      ]),
    );
  }

  if (isSeq(node)) return node.items.map(item => readWrittenValue(item, reading, depth + 1));
  if (!isScalar(node) || node.value === null) return null;
  return typeof node.value === 'string' ? node.value : new Literal(getScalarSource(node));
}

function resolveAlias(node: unknown, reading: DocumentReading, depth: number): unknown {
  if (!reading.aliasValues.has(node)) {
    reading.aliasValues.set(node, readWrittenValue(node, reading, depth));
  }
  return reading.aliasValues.get(node);
}

function getScalarSource(node: unknown): string {
  if (!isScalar(node)) return String(node);
  const { value, source } = node;
  return typeof value === 'string' ? value : (source ?? String(value));
}
