import { countOf, isObject, listOf, own, scalarText, textUnder } from '../../core/json-value.ts';
import { describeJtd, isBareJtd, isJtd } from './describe-jtd.ts';
import { describeVariables, isVariables } from './describe-variables.ts';
import { type ImageField, type InputFields, imageField, type TextField, textField } from './fields.ts';

export type { ImageField, InputFields, TextField } from './fields.ts';

/** More images than any prompt asks for; a config that asks for more is not believed. */
const MOST_IMAGES = 100;

const UNKNOWN: InputFields = { known: false, text: [], images: [] };

/**
 * What a prompt's config says it asks for, in any of the three shapes known (service-facts): keyed objects,
 * JSON Type Definition, variables. Never throws, whatever the config holds.
 */
export function describeConfig(config: unknown): InputFields {
  const texts = own(config, 'textInputs');
  const jtd =
    [own(config, 'inputsJTD'), own(texts, 'inputsJTD')].find(isJtd) ?? [config, texts].find(isBareJtd);
  if (jtd !== undefined) {
    return fields(describeJtd(jtd), config, jtd);
  }
  const variables = [own(config, 'variables'), own(texts, 'variables')].find(isVariables);
  if (variables !== undefined) {
    return fields(describeVariables(variables), config);
  }
  if (isObject(texts) || Array.isArray(texts)) {
    return fields(describeKeyed(texts), config);
  }
  const images = describeImages(config);
  return images === undefined ? UNKNOWN : { known: true, text: [], images };
}

function fields(text: readonly TextField[], config: unknown, jtd?: unknown): InputFields {
  return { known: true, text: firstOfEachKey(text), images: describeImages(config, jtd) ?? [] };
}

/** The images from the first place that names any; undefined where none does. */
function describeImages(config: unknown, jtd?: unknown): readonly ImageField[] | undefined {
  const inputs = own(config, 'imageInputs');
  const texts = own(config, 'textInputs');
  const places = [
    imageList(inputs),
    imageList(own(inputs, 'images')),
    imageList(own(config, 'images')),
    imageList(own(texts, 'images')),
    ...[jtd, inputs, own(inputs, 'inputsJTD')].map(imagesCounted),
    keyedImages(inputs),
  ];
  return places.find(images => images !== undefined && images.length > 0) ?? places.find(Array.isArray);
}

function imageList(value: unknown): readonly ImageField[] | undefined {
  return Array.isArray(value) ? listOf(value).slice(0, MOST_IMAGES).map(describeImage) : undefined;
}

function imagesCounted(place: unknown): readonly ImageField[] | undefined {
  const count = countOf(own(own(place, 'metadata'), 'imageCount'));
  return count === undefined ? undefined : Array.from({ length: Math.min(count, MOST_IMAGES) }, () => ({}));
}

/** `{photo: {description}}` instead of a list. */
function keyedImages(inputs: unknown): readonly ImageField[] | undefined {
  if (!isObject(inputs) || ['images', 'metadata', 'inputsJTD'].some(key => Object.hasOwn(inputs, key))) {
    return undefined;
  }
  return Object.entries(inputs)
    .slice(0, MOST_IMAGES)
    .map(([key, said]) => imageField(describeImage(said).description ?? key));
}

function describeImage(said: unknown): ImageField {
  const text = typeof said === 'string' && said !== '' ? said : undefined;
  return imageField(text ?? textUnder(said, 'description', 'title', 'label', 'name', 'key'));
}

function firstOfEachKey(text: readonly TextField[]): readonly TextField[] {
  const byKey = new Map<string, TextField>();
  for (const field of text) {
    if (!byKey.has(field.key)) {
      byKey.set(field.key, field);
    }
  }
  return [...byKey.values()];
}

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
