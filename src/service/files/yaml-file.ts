import { CST, type Document, isAlias, Lexer, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { FileFault, type Place } from './file-fault.ts';
import { valueOf, type YamlValue } from './yaml-value.ts';

export { FileFault, type Place } from './file-fault.ts';
export { faultAt, type YamlEntry, type YamlValue } from './yaml-value.ts';

/** Parses one YAML document whose first line is line `firstLine` of its file. Throws FileFault. */
export function parseYaml(text: string, firstLine = 1, file?: string): YamlValue {
  const { root, faults } = parseYamlWithFaults(text, firstLine, file);
  const [fault] = faults;
  if (fault) throw fault;
  return root;
}

/** As `parseYaml`, with what is not YAML instead of an error. */
export function parseYamlWithFaults(
  text: string,
  firstLine = 1,
  file?: string,
): { readonly root: YamlValue; readonly faults: readonly FileFault[] } {
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
    ? [new FileFault(firstLine, 'this is nested too deeply', 1, file)]
    : // What the parser makes of the rest of a broken text is of no help.
      document.errors.slice(0, 1).map(error => {
        const { line, column } = placeAt(error.pos[0]);
        return new FileFault(line, `this is not YAML: ${error.message}`, column, file);
      });
  const aliases = faults.length > 0 ? new Map<Node, Node>() : resolveAliases(document);
  const source = { file, aliases, placeAt, valuesRead: 0 };
  return { root: valueOf(document.contents, { line: firstLine, column: 1 }, source), faults };
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
