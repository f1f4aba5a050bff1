import {
  encodePointerStep,
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
  parsePointerStep,
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
 * Returns the JSON Pointer of a reference that leads back to itself without going deeper into the
 * value, so that a check would never end; undefined if there is none.
 */
export function findReferenceLoop(schema: JsonValue): string | undefined {
  const roots = toSchemaParts(schema, '', 'schema:///');
  const resolveTarget = createTargetResolver(roots);
  const states = new Map<JsonObject, 'open' | 'done'>();
  const pendingParts = [...roots];

  const listSameValueParts = (
    part: SchemaPart,
    keyword: string,
    value: JsonValue,
  ): SchemaPart[] => {
    if (REFERENCE_KEYWORDS.has(keyword) && typeof value === 'string') {
      return resolveTarget(value, part);
    }

    return SAME_VALUE_KEYWORDS.has(keyword) ? listPartsUnder(part, keyword) : [];
  };

  const visit = (part: SchemaPart): string | undefined => {
    states.set(part.schema, 'open');

    for (const [keyword, value] of Object.entries(part.schema)) {
      for (const next of listSameValueParts(part, keyword, value)) {
        const state = states.get(next.schema);
        if (state === 'open') return part.pointer + encodePointerStep(keyword);
        if (state === 'done') continue;

        const loop = visit(next);
        if (loop !== undefined) return loop;
      }
      if (NESTED_KEYWORDS.has(keyword)) pendingParts.push(...listPartsUnder(part, keyword));
    }

    states.set(part.schema, 'done');
    return undefined;
  };

  for (let part = pendingParts.pop(); part; part = pendingParts.pop()) {
    const loop = states.has(part.schema) ? undefined : visit(part);
    if (loop !== undefined) return loop;
  }

  return undefined;
}

/**
 * Returns a function that resolves references within this schema; it returns an empty list for any
 * other.
 */
function createTargetResolver(
  roots: readonly SchemaPart[],
): (reference: string, from: SchemaPart) => SchemaPart[] {
  const documents = new Map<string, SchemaPart>();
  const anchors = new Map<string, SchemaPart>();
  const pendingParts = [...roots];
  for (let part = pendingParts.pop(); part; part = pendingParts.pop()) {
    const { schema, base } = part;
    if (!documents.has(base)) documents.set(base, part);

    for (const name of [schema['$anchor'], schema['$dynamicAnchor']]) {
      if (typeof name === 'string') anchors.set(`${base}#${name}`, part);
    }

    for (const keyword of [...SAME_VALUE_KEYWORDS, ...NESTED_KEYWORDS]) {
      pendingParts.push(...listPartsUnder(part, keyword));
    }
  }

  return (reference, { base }) => {
    if (!URL.canParse(reference, base)) return [];

    const { href, hash } = new URL(reference, base);
    const document = documents.get(withoutHash(href));
    if (document === undefined) return [];

    if (hash !== '' && !hash.startsWith('#/')) {
      const anchor = anchors.get(href);
      return anchor ? [anchor] : [];
    }

    let target: JsonValue | undefined = document.schema;
    const steps = hash.split('/').slice(1).map(decodeUriStep);
    for (const step of steps) target = findOwnValue(target, step);

    return toSchemaParts(
      target,
      document.pointer + steps.map(encodePointerStep).join(''),
      document.base,
    );
  };
}

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
  const { $id } = value;
  const isNamed = typeof $id === 'string' && URL.canParse($id, base);
  return [{ schema: value, pointer, base: isNamed ? withoutHash(new URL($id, base).href) : base }];
}

function withoutHash(uri: string): string {
  return uri.replace(/#.*$/su, '');
}

/** Decodes a step of a JSON Pointer in a URI. */
export function decodeUriStep(step: string): string {
  const text = parsePointerStep(step);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
