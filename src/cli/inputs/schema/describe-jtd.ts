import { isObject, listOf, own, scalarText, textUnder } from '../../core/json-value.ts';
import { type TextField, textField } from './fields.ts';

/** Definitions that refer to each other are followed no further than this. */
const MOST_REFERENCES = 10;

/** Whether this is a schema of the inputs, and not an input that happens to be called `inputsJTD`. */
export function isJtd(value: unknown): boolean {
  return (
    isObject(value) &&
    (['properties', 'optionalProperties'].some(form => isObject(own(value, form))) ||
      own(own(value, 'metadata'), 'imageCount') !== undefined)
  );
}

const KEYWORDS = ['properties', 'optionalProperties', 'additionalProperties', 'definitions', 'metadata'];

/** Whether this is such a schema where no key says so: nothing else stands in it, and each property is a schema. */
export function isBareJtd(value: unknown): boolean {
  if (!isObject(value) || !Object.keys(value).every(key => KEYWORDS.includes(key))) return false;
  const properties = ['properties', 'optionalProperties'].flatMap((form): unknown[] =>
    Object.values(own(value, form) ?? {}),
  );
  return properties.length > 0 && properties.every(isObject);
}

/** Shape (b): JSON Type Definition (RFC 8927), with `description` and `default` in the metadata. */
export function describeJtd(schema: unknown): readonly TextField[] {
  const definitions = own(schema, 'definitions');
  const describe = (form: string, required: boolean) =>
    Object.entries(own(schema, form) ?? {}).map(([key, said]) =>
      describeProperty(key, resolve(said, definitions), { required, definitions }),
    );
  return [...describe('properties', true), ...describe('optionalProperties', false)];
}

function describeProperty(
  key: string,
  said: unknown,
  place: { required: boolean; definitions: unknown },
): TextField {
  const metadata = own(said, 'metadata');
  const elements = resolve(own(said, 'elements'), place.definitions);
  const several = choicesOf(elements);
  return textField(key, {
    description: textUnder(metadata, 'description', 'title', 'label') ?? textUnder(said, 'description'),
    required: place.required,
    default: defaultOf(own(metadata, 'default')),
    choices: several ?? choicesOf(said),
    ...(several !== undefined && { multiple: {} }),
  });
}

function choicesOf(said: unknown): readonly string[] | undefined {
  const listed = own(said, 'enum');
  return Array.isArray(listed)
    ? listOf(listed)
        .map(scalarText)
        .filter(text => text !== undefined)
    : undefined;
}

/** Follows `{ref: name}` into the definitions. */
function resolve(said: unknown, definitions: unknown): unknown {
  let found = said;
  for (let step = 0; step < MOST_REFERENCES; step += 1) {
    const name = own(found, 'ref');
    if (typeof name !== 'string') {
      return found;
    }
    found = own(definitions, name);
  }
  return undefined;
}

function defaultOf(value: unknown): string | undefined {
  return Array.isArray(value)
    ? value
        .map(scalarText)
        .filter(text => text !== undefined)
        .join(', ')
    : scalarText(value);
}
