import { FileFault } from '../../../../files/formats/file-fault.ts';
import { decodePointerStep } from '../../../../files/formats/json.ts';
import { toYamlValue, type YamlValue } from '../../../../files/formats/yaml.ts';
import {
  parseYamlNode,
  type YamlNode,
  type YamlPair,
} from '../../../../files/formats/yaml-node.ts';

const REFERENCE_KEY = '$ref';

/** A YAML text with its parsed document. */
export interface ParsedText {
  readonly text: string;
  readonly root: YamlNode | null;
}

/**
 * Parses YAML and resolves its references.
 *
 * @throws {FileFault} if it is not YAML, is nested too deeply, or its references add too much
 */
export function parseWithReferences(text: string, file: string): YamlValue {
  return resolveReferences({ text, root: parseYamlNode(text, { file }) }, file);
}

/**
 * Replaces each `{$ref: '#/…'}` with the value that it points to, as promptfoo does when it reads
 * configurations and tests.
 *
 * @throws {FileFault} if the references add too much
 */
export function resolveReferences({ text, root }: ParsedText, file: string): YamlValue {
  return toYamlValue(
    root && text.includes(REFERENCE_KEY) ? new ReferenceResolver(root, file).resolveRoot() : root,
    1,
    file,
  );
}

/** Maximum number of references to references. */
const MAX_CHAINED_REFERENCES = 10;

/** Maximum number of keys that references add to maps with keys of their own. */
const MAX_ADDED_KEYS = 50_000;

/** Replaces the references of a document. */
class ReferenceResolver {
  readonly #root: YamlNode;
  readonly #file: string;
  /** The nodes without references, by the nodes of the document. */
  readonly #resolved = new Map<YamlNode, YamlNode>();
  #addedKeyCount = 0;

  constructor(root: YamlNode, file: string) {
    this.#root = root;
    this.#file = file;
  }

  /** Returns the document without references. */
  resolveRoot(): YamlNode | null {
    return this.#resolve(this.#root);
  }

  #resolve(writtenNode: YamlNode | null): YamlNode | null {
    const node = writtenNode && this.#resolveTarget(writtenNode);
    if (!node || node.kind === 'scalar') return node;

    const resolvedNode = this.#resolved.get(writtenNode) ?? this.#resolved.get(node);
    if (resolvedNode) return resolvedNode;

    // Each node is remembered before its children, because one of them may point to it.
    if (node.kind === 'list') {
      const items: (YamlNode | null)[] = [];
      const list = this.#remember({ ...node, items }, writtenNode, node);
      for (const item of node.items) items.push(this.#resolve(item));
      return list;
    }

    const entries: YamlPair[] = [];
    const map = this.#remember({ ...node, entries }, writtenNode, node);
    for (const pair of node.entries) entries.push({ ...pair, value: this.#resolve(pair.value) });
    return map;
  }

  #remember(resolvedNode: YamlNode, ...originals: readonly YamlNode[]): YamlNode {
    for (const original of originals) this.#resolved.set(original, resolvedNode);
    return resolvedNode;
  }

  /**
   * Returns the node that a reference points to, with the reference's other keys; any other node
   * unchanged.
   */
  #resolveTarget(node: YamlNode, depth = 0): YamlNode | null {
    if (node.kind !== 'map' || depth > MAX_CHAINED_REFERENCES) return node;

    const pointer = node.entries.find(({ key }) => key === REFERENCE_KEY)?.value;
    if (pointer?.kind !== 'scalar' || typeof pointer.value !== 'string') return node;

    const pointedNode = this.#findNode(pointer.value);
    if (pointedNode === undefined) return node;

    const target = pointedNode && this.#resolveTarget(pointedNode, depth + 1);
    const ownEntries = node.entries.filter(({ key }) => key !== REFERENCE_KEY);
    if (ownEntries.length === 0 || target?.kind !== 'map') return target;

    const keys = new Set(ownEntries.map(({ key }) => key));
    this.#addedKeyCount += target.entries.length;

    if (this.#addedKeyCount > MAX_ADDED_KEYS) {
      throw new FileFault(
        node.line ?? 1,
        'its references add too many keys',
        node.column ?? 1,
        this.#file,
      );
    }

    return {
      ...target,
      entries: [...target.entries.filter(({ key }) => !keys.has(key)), ...ownEntries],
    };
  }

  /** Returns the node at a pointer such as `#/a/0`; undefined if there is none. */
  #findNode(pointer: string): YamlNode | null | undefined {
    if (!pointer.startsWith('#/')) return undefined;
    let node: YamlNode | null | undefined = this.#root;
    for (const step of pointer.slice(2).split('/').map(decodePointerStep)) {
      if (node?.kind === 'map') {
        node = node.entries.find(({ key }) => key === step)?.value;
      } else if (node?.kind === 'list') {
        node = /^\d+$/u.test(step) ? node.items[Number(step)] : undefined;
      } else {
        return undefined;
      }
    }

    return node;
  }
}
