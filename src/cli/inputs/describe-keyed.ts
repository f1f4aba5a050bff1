import { isObject, listOf, own, scalarText, textUnder } from '../json-value.ts';
import { type TextField, textField } from './fields.ts';

/** Names of types; any other text in a type's place describes the field. */
const TYPE_NAME = /^(string|text|textarea|number|integer|boolean|any)\??$/i;

/** Shape (a): `{topic: {type, description, required, default, enum}}`, or a list of them with their keys inside. */
export function describeKeyed(texts: unknown): readonly TextField[] {
  if (isObject(texts)) {
    return Object.entries(texts).map(([key, said]) => describeField(key, said));
  }
  return listOf(texts).flatMap(said => {
    const key = typeof said === 'string' ? said : textUnder(said, 'key', 'name', 'id');
    return key === undefined ? [] : [describeField(key, typeof said === 'string' ? undefined : said)];
  });
}

function describeField(key: string, said: unknown): TextField {
  if (typeof said === 'string') {
    return describeType(key, said);
  }
  if (Array.isArray(said)) {
    return textField(key, { required: true, choices: texts(said) });
  }
  const choices = [own(said, 'enum'), own(said, 'options'), own(own(said, 'items'), 'enum')].find(
    Array.isArray,
  );
  return textField(key, {
    description: textUnder(said, 'description', 'title', 'label'),
    required: own(said, 'required') !== false && own(said, 'optional') !== true,
    default: defaultOf(own(said, 'default')),
    choices: texts(choices),
    ...(isMultiple(said) && { multiple: {} }),
  });
}

/** `"string"`, `"string?"`, or a few words on what is wanted. */
function describeType(key: string, said: string): TextField {
  const isType = TYPE_NAME.test(said);
  return textField(key, {
    required: !(isType && said.endsWith('?')),
    description: isType || said === '' ? undefined : said,
  });
}

function isMultiple(said: unknown): boolean {
  return own(said, 'multiple') === true || own(said, 'type') === 'array';
}

function defaultOf(value: unknown): string | undefined {
  return Array.isArray(value) ? texts(value).join(', ') : scalarText(value);
}

function texts(values: unknown): readonly string[] {
  return listOf(values)
    .map(scalarText)
    .filter(text => text !== undefined);
}
