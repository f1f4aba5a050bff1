import { countOf, isObject, listOf, own, textUnder } from '../json-value.ts';
import { describeJtd, isJtd } from './describe-jtd.ts';
import { describeKeyed } from './describe-keyed.ts';
import { describeVariables, isVariables } from './describe-variables.ts';
import { type ImageField, type InputFields, imageField, type TextField } from './fields.ts';

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
  const jtd = [own(config, 'inputsJTD'), own(texts, 'inputsJTD')].find(isJtd);
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

/** The images from the first place that tells of any; undefined where none does. */
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
