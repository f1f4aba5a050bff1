import { isJsonList, type JsonObject, type JsonValue, ownValue, pointerStep } from '../../files/json.ts';
import type { YamlValue } from '../../files/yaml.ts';
import { isJsonObject } from '../../wire/bounded-json.ts';
import { REFERENCE_LOOP, referenceLoop, unescapedStep } from './reference-loop.ts';
import type { SchemaContext } from './schema-reader.ts';

export const JSON_TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMAS = new Set([
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
/** Keywords such as `minLength` and `maxItems`. */
const COUNT = /^(?:min|max)(?:Length|Items|Properties|Contains)$/u;
const NUMBERS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']);

type Report = (pointer: string, message: string) => void;

/** Reports the faults of a JSON Schema with their places. @throws {FileFault} for too many fields */
export function checkJsonSchema(schema: JsonObject, value: YamlValue, context: SchemaContext): void {
  const report: Report = (pointer, message) => context.findings.fault(value.at(pointer), message);
  const visit = (part: JsonValue, pointer: string): void => {
    if (typeof part === 'boolean') return;
    if (!isJsonObject(part)) return report(pointer, 'a schema must be a map');
    for (const [keyword, value] of Object.entries(part)) {
      const at = pointer + pointerStep(keyword);
      if (MAPS.has(keyword)) visitMap(keyword, value, at);
      else if (LISTS.has(keyword)) visitList(keyword, value, at);
      else if (SCHEMAS.has(keyword)) visit(value, at);
      else checkKeyword(keyword, value, schema, message => report(at, message));
    }
  };
  const visitMap = (keyword: string, map: JsonValue, pointer: string): void => {
    if (!isJsonObject(map)) return report(pointer, `\`${keyword}\` must be a map of schemas`);
    for (const [name, part] of Object.entries(map)) {
      if (keyword === 'properties') context.countField(value.at(pointer + pointerStep(name)));
      if (keyword === 'patternProperties') checkPattern(name, message => report(pointer, message));
      visit(part, pointer + pointerStep(name));
    }
  };
  const visitList = (keyword: string, list: JsonValue, pointer: string): void => {
    if (!isJsonList(list) || list.length === 0) {
      return report(pointer, `\`${keyword}\` must be a list of schemas`);
    }
    for (const [index, part] of list.entries()) visit(part, pointer + pointerStep(index));
  };
  visit(schema, '');
  const loop = referenceLoop(schema);
  if (loop !== undefined) report(loop, REFERENCE_LOOP);
}

function checkKeyword(
  keyword: string,
  value: JsonValue,
  root: JsonObject,
  report: (message: string) => void,
): void {
  if (keyword === 'pattern') checkPattern(value, report);
  if (keyword === '$ref') checkReference(value, root, report);
  if (keyword === 'type') {
    const types: readonly JsonValue[] = isJsonList(value) ? value : [value];
    const wrong = types.length === 0 ? types : types.find(type => !JSON_TYPES.some(known => known === type));
    if (wrong !== undefined) {
      const known = JSON_TYPES.join(', ');
      report(`${JSON.stringify(wrong)} is not a type of JSON Schema; the types are ${known}`);
    }
  }
  const isNames = isJsonList(value) && value.every(name => typeof name === 'string');
  if (keyword === 'required' && !isNames) report('`required` must be a list of names');
  const isChoice = isJsonList(value) && value.length > 0;
  if (keyword === 'enum' && !isChoice) report('`enum` must be a list of values');
  const isCount = Number.isInteger(value) && Number(value) >= 0;
  if (COUNT.test(keyword) && !isCount) report(`\`${keyword}\` must be a whole number, 0 or more`);
  if (NUMBERS.has(keyword) && typeof value !== 'number') report(`\`${keyword}\` must be a number`);
  const isDivisor = typeof value !== 'number' || value > 0;
  if (keyword === 'multipleOf' && !isDivisor) report('`multipleOf` must be greater than 0');
}

function checkPattern(pattern: JsonValue, report: (message: string) => void): void {
  try {
    if (typeof pattern === 'string') return void new RegExp(pattern, 'u');
    report('a pattern must be text');
  } catch {
    report(`${JSON.stringify(pattern)} is not a regular expression`);
  }
}

/** Reports a reference to anything but a part of the schema itself, because nothing is fetched. */
function checkReference(reference: JsonValue, root: JsonObject, report: (message: string) => void): void {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    return report(`${JSON.stringify(reference)} refers to another document, and those are not fetched`);
  }
  if (reference !== '#' && !reference.startsWith('#/')) return;
  let here: JsonValue | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    here = ownValue(here, unescapedStep(step));
  }
  if (here === undefined) report(`\`${reference}\` leads to nothing in this schema`);
}
