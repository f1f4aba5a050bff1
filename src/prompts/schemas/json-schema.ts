import {
  encodePointerStep,
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../files/formats/json.ts';
import type { YamlValue } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { decodeUriStep, findReferenceLoop, REFERENCE_LOOP_MESSAGE } from './reference-loop.ts';
import type { SchemaContext } from './schema-context.ts';

/** The names of the types in JSON Schema. */
export const JSON_TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Keywords whose value is a map of schemas by name. */
const KEYWORDS_WITH_SCHEMA_MAP = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

const KEYWORDS_WITH_SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

const KEYWORDS_WITH_SCHEMA = new Set([
  'items',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Matches keywords whose value is a count, such as `minLength` and `maxItems`. */
const COUNTING_KEYWORD = /^(?:min|max)(?:Length|Items|Properties|Contains)$/u;

const NUMBER_KEYWORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

/**
 * Reports the faults of a JSON Schema with their places.
 *
 * @throws {FileFault} for too many fields
 */
export function checkJsonSchema(
  schema: JsonObject,
  schemaNode: YamlValue,
  context: SchemaContext,
): void {
  new SchemaCheck(schema, schemaNode, context).check();
}

/** Visits every part of a schema. Pointers name the parts. */
class SchemaCheck {
  readonly #root: JsonObject;
  readonly #rootNode: YamlValue;
  readonly #context: SchemaContext;

  constructor(root: JsonObject, rootNode: YamlValue, context: SchemaContext) {
    this.#root = root;
    this.#rootNode = rootNode;
    this.#context = context;
  }

  check(): void {
    this.#visit(this.#root, '');
    const loop = findReferenceLoop(this.#root);
    if (loop !== undefined) this.#report(loop, REFERENCE_LOOP_MESSAGE);
  }

  #visit(schema: JsonValue, pointer: string): void {
    if (typeof schema === 'boolean') return;
    if (!isJsonObject(schema)) return this.#report(pointer, 'a schema must be a map');
    for (const [keyword, value] of Object.entries(schema)) {
      this.#visitKeyword(keyword, value, pointer + encodePointerStep(keyword));
    }
  }

  #visitKeyword(keyword: string, value: JsonValue, pointer: string): void {
    if (KEYWORDS_WITH_SCHEMA_MAP.has(keyword)) return this.#visitMap(keyword, value, pointer);
    if (KEYWORDS_WITH_SCHEMA_LIST.has(keyword)) return this.#visitList(keyword, value, pointer);
    if (KEYWORDS_WITH_SCHEMA.has(keyword)) return this.#visit(value, pointer);
    this.#report(pointer, findKeywordFault(keyword, value, this.#root));
  }

  #visitMap(keyword: string, map: JsonValue, pointer: string): void {
    if (!isJsonObject(map)) return this.#report(pointer, `\`${keyword}\` must be a map of schemas`);
    for (const [name, schema] of Object.entries(map)) {
      const memberPointer = pointer + encodePointerStep(name);
      if (keyword === 'properties') this.#context.countField(this.#rootNode.findAt(memberPointer));
      if (keyword === 'patternProperties') this.#report(pointer, findPatternFault(name));
      this.#visit(schema, memberPointer);
    }
  }

  #visitList(keyword: string, list: JsonValue, pointer: string): void {
    if (!isJsonList(list) || list.length === 0) {
      return this.#report(pointer, `\`${keyword}\` must be a list of schemas`);
    }
    for (const [index, schema] of list.entries()) {
      this.#visit(schema, pointer + encodePointerStep(index));
    }
  }

  #report(pointer: string, fault: string | undefined): void {
    if (fault !== undefined) this.#context.findings.addFault(this.#rootNode.findAt(pointer), fault);
  }
}

/** Returns the fault in the value of a keyword that takes no schemas; undefined if it is valid. */
function findKeywordFault(keyword: string, value: JsonValue, root: JsonObject): string | undefined {
  if (keyword === 'pattern') return findPatternFault(value);
  if (keyword === '$ref') return findReferenceFault(value, root);
  if (keyword === 'type') return findTypeFault(value);

  if (COUNTING_KEYWORD.test(keyword)) {
    const isCount = Number.isInteger(value) && Number(value) >= 0;
    return isCount ? undefined : `\`${keyword}\` must be a whole number, 0 or more`;
  }

  if (NUMBER_KEYWORDS.has(keyword)) return findNumberFault(keyword, value);

  if (keyword === 'required') {
    const isNameList = isJsonList(value) && value.every(name => typeof name === 'string');
    return isNameList ? undefined : '`required` must be a list of names';
  }

  if (keyword !== 'enum') return undefined;
  return isJsonList(value) && value.length > 0 ? undefined : '`enum` must be a list of values';
}

function findTypeFault(value: JsonValue): string | undefined {
  const types: readonly JsonValue[] = isJsonList(value) ? value : [value];
  const unknownType =
    types.length === 0
      ? types
      : types.find(type => !JSON_TYPES.some(jsonType => jsonType === type));
  if (unknownType === undefined) return undefined;
  return `${JSON.stringify(unknownType)} is not a type of JSON Schema; the types are ${JSON_TYPES.join(', ')}`;
}

function findNumberFault(keyword: string, value: JsonValue): string | undefined {
  if (typeof value !== 'number') return `\`${keyword}\` must be a number`;
  return keyword === 'multipleOf' && value <= 0 ? '`multipleOf` must be greater than 0' : undefined;
}

function findPatternFault(pattern: JsonValue): string | undefined {
  if (typeof pattern !== 'string') return 'a pattern must be text';
  try {
    void new RegExp(pattern, 'u');
    return undefined;
  } catch {
    return `${JSON.stringify(pattern)} is not a regular expression`;
  }
}

/**
 * Returns the fault of a reference; undefined if it leads to a part of the schema itself. A
 * reference to another document is a fault, because nothing is fetched.
 */
function findReferenceFault(reference: JsonValue, root: JsonObject): string | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    return `${JSON.stringify(reference)} refers to another document, and those are not fetched`;
  }

  if (reference !== '#' && !reference.startsWith('#/')) return undefined;

  let subschema: JsonValue | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    subschema = findOwnValue(subschema, decodeUriStep(step));
  }

  return subschema === undefined ? `\`${reference}\` leads to nothing in this schema` : undefined;
}
