import {
  decodePointerStep,
  encodePointerStep,
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../files/formats/json.ts';

/**
 * Keywords whose schemas apply to the same value as the schema around them: one, a list or a map of
 * schemas.
 */
const SAME_VALUE_KEYWORDS = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords whose schemas apply to a part of the value, or only if something refers to them. */
const NESTED_KEYWORDS = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'items',
  'additionalItems',
  'prefixItems',
  'contains',
  'unevaluatedItems',
  '$defs',
  'definitions',
]);

const MAP_KEYWORDS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

const REFERENCE_KEYWORDS = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

export const REFERENCE_LOOP_MESSAGE =
  '`$ref` leads back to itself without going deeper into the value';

/** A schema, its JSON Pointer, and the base URI of its references. */
interface SchemaPart {
  readonly schema: JsonObject;
  readonly pointer: string;
  readonly base: string;
}

/**
 * Returns the JSON Pointer of a keyword, such as `$ref` or an `allOf` around it, that leads back to
 * its own schema without going deeper into the value, so that a check would never end; undefined if
 * there is none.
 */
export function findReferenceLoop(schema: JsonValue): string | undefined {
  const roots = toSchemaParts(schema, '', 'schema:///');
  const search = new LoopSearch(new ReferenceTargets(roots));
  const pendingParts = [...roots];
  for (let part = pendingParts.pop(); part; part = pendingParts.pop()) {
    const loop = search.findLoopFrom(part, pendingParts);
    if (loop !== undefined) return loop;
  }

  return undefined;
}

/** A depth-first search: a part is open while the parts that it leads to are visited. */
class LoopSearch {
  readonly #targets: ReferenceTargets;
  readonly #states = new Map<JsonObject, 'open' | 'done'>();

  constructor(targets: ReferenceTargets) {
    this.#targets = targets;
  }

  /**
   * Returns the pointer of the keyword that closes a loop, searching from a part; undefined if
   * there is none. Adds the parts that apply to other values to `pendingParts`.
   */
  findLoopFrom(part: SchemaPart, pendingParts: SchemaPart[]): string | undefined {
    if (this.#states.has(part.schema)) return undefined;
    this.#states.set(part.schema, 'open');

    for (const [keyword, value] of Object.entries(part.schema)) {
      for (const next of this.#listSameValueParts(part, keyword, value)) {
        if (this.#states.get(next.schema) === 'open') {
          return part.pointer + encodePointerStep(keyword);
        }

        const loop = this.findLoopFrom(next, pendingParts);
        if (loop !== undefined) return loop;
      }
      if (NESTED_KEYWORDS.has(keyword)) pendingParts.push(...listPartsUnder(part, keyword));
    }

    this.#states.set(part.schema, 'done');
    return undefined;
  }

  #listSameValueParts(part: SchemaPart, keyword: string, value: JsonValue): SchemaPart[] {
    if (REFERENCE_KEYWORDS.has(keyword) && typeof value === 'string') {
      return this.#targets.resolve(value, part);
    }
    return SAME_VALUE_KEYWORDS.has(keyword) ? listPartsUnder(part, keyword) : [];
  }
}

/** The parts of a schema that references can name: those with an `$id` and those with an anchor. */
class ReferenceTargets {
  readonly #documents = new Map<string, SchemaPart>();
  readonly #anchors = new Map<string, SchemaPart>();

  constructor(roots: readonly SchemaPart[]) {
    const pendingParts = [...roots];
    for (let part = pendingParts.pop(); part; part = pendingParts.pop()) {
      this.#add(part);
      for (const keyword of [...SAME_VALUE_KEYWORDS, ...NESTED_KEYWORDS]) {
        pendingParts.push(...listPartsUnder(part, keyword));
      }
    }
  }

  /** Returns the target of a reference; an empty list if it is not in this schema. */
  resolve(reference: string, { base }: SchemaPart): SchemaPart[] {
    if (!URL.canParse(reference, base)) return [];

    const { href, hash } = new URL(reference, base);
    const document = this.#documents.get(withoutHash(href));
    if (document === undefined) return [];

    if (hash !== '' && !hash.startsWith('#/')) {
      const anchor = this.#anchors.get(href);
      return anchor ? [anchor] : [];
    }

    const steps = hash.split('/').slice(1).map(decodeUriStep);
    let target: JsonValue | undefined = document.schema;
    let targetBase = document.base;
    for (const [index, step] of steps.entries()) {
      // A schema on the way may have an `$id`, which is the base of the references in it.
      if (index > 0) targetBase = findBase(target, targetBase);
      target = findOwnValue(target, step);
    }

    const pointer = document.pointer + steps.map(encodePointerStep).join('');
    return steps.length === 0 ? [document] : toSchemaParts(target, pointer, targetBase);
  }

  #add(part: SchemaPart): void {
    const { schema, base } = part;
    if (!this.#documents.has(base)) this.#documents.set(base, part);

    for (const name of [schema['$anchor'], schema['$dynamicAnchor']]) {
      if (typeof name === 'string') this.#anchors.set(`${base}#${name}`, part);
    }
  }
}

/** Returns the schemas in the value of a keyword: one, a list or a map of them. */
function listPartsUnder({ schema, pointer, base }: SchemaPart, keyword: string): SchemaPart[] {
  const value = findOwnValue(schema, keyword);
  const keywordPointer = pointer + encodePointerStep(keyword);
  if (typeof value !== 'object' || value === null) return [];

  if (!isJsonList(value) && !MAP_KEYWORDS.has(keyword)) {
    return toSchemaParts(value, keywordPointer, base);
  }

  const schemas: [string, JsonValue][] = Object.entries(value);
  return schemas.flatMap(([name, schema]) =>
    toSchemaParts(schema, keywordPointer + encodePointerStep(name), base),
  );
}

/** Returns a value as a schema; an empty list if it is not an object. */
function toSchemaParts(value: JsonValue | undefined, pointer: string, base: string): SchemaPart[] {
  if (typeof value !== 'object' || value === null || isJsonList(value)) return [];
  return [{ schema: value, pointer, base: findBase(value, base) }];
}

/**
 * Returns the base URI of the references in a schema: its `$id`, or that of the schema around it.
 */
function findBase(schema: JsonValue | undefined, outerBase: string): string {
  const $id = findOwnValue(schema, '$id');
  const isNamed = typeof $id === 'string' && URL.canParse($id, outerBase);
  return isNamed ? withoutHash(new URL($id, outerBase).href) : outerBase;
}

function withoutHash(uri: string): string {
  return uri.replace(/#.*$/su, '');
}

/**
 * Decodes a step of a JSON Pointer in a URI: first as a URI, then as a pointer
 * (https://www.rfc-editor.org/rfc/rfc6901#section-6).
 */
export function decodeUriStep(step: string): string {
  try {
    return decodePointerStep(decodeURIComponent(step));
  } catch {
    return decodePointerStep(step);
  }
}
