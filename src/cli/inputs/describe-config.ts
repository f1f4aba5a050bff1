import {
  countOf,
  isObject,
  type JsonObject,
  listOf,
  own,
  scalarText,
  textUnder,
} from '../core/json-value.ts';
import {
  choicesOf,
  defaultOf,
  field,
  flag,
  type ImageField,
  type InputFields,
  optional,
  part,
  type TextField,
  TYPES,
  texts,
  UnknownShape,
} from './input-fields.ts';

/** More images than any prompt asks for. */
const MOST_IMAGES = 100;
const UNKNOWN: InputFields = { known: false, text: [], images: [] };

/**
 * What a prompt's config says that it asks for, in any of three shapes: (a) keyed objects under `textInputs` and a list
 * under `imageInputs`; (b) JSON Type Definition under `inputsJTD`, or in place of the config or its texts; (c) `variables`
 * and `images`. A shape is only taken for known if every part of it is. Never throws, whatever the config holds.
 */
export function describeConfig(config: unknown): InputFields {
  try {
    const jtd = jtdIn(config);
    const text = jtd === undefined ? textsIn(config) : describeJtd(jtd);
    const images = imagesIn(config, jtd);
    if (text === undefined && images === undefined) return UNKNOWN;
    const byKey = new Map((text ?? []).toReversed().map(field => [field.key, field]));
    return { known: true, text: [...byKey.values()].toReversed(), images: images ?? [] };
  } catch (error) {
    if (error instanceof UnknownShape) return UNKNOWN;
    throw error;
  }
}

function textsIn(config: unknown): TextField[] | undefined {
  const texts = own(config, 'textInputs');
  const variables = [own(config, 'variables'), own(texts, 'variables')].find(
    value => isObject(value) && Object.values(value).every(isObject),
  );
  if (variables !== undefined) {
    return Object.entries(part(variables)).map(([key, said]) => describeVariable(key, part(said)));
  }
  if (texts === undefined) return undefined;
  return Object.entries(part(texts)).map(([key, said]) => describeKeyed(key, part(said)));
}

/** Shape (a): `{type, description, required, default, enum}`. */
function describeKeyed(key: string, said: JsonObject): TextField {
  const type = optional(own(said, 'type'), scalarText);
  const listed = own(said, 'enum') ?? own(said, 'options') ?? own(own(said, 'items'), 'enum');
  const { choices, labels } = optional(listed, choicesOf) ?? {};
  const isRequired = optional(own(said, 'required'), flag) !== false;
  const isMultiple = optional(own(said, 'multiple'), flag) === true || type === 'array';
  return field(key, isRequired && own(said, 'optional') !== true, {
    description: textUnder(said, 'description', 'title', 'label'),
    default: optional(own(said, 'default'), defaultOf),
    type: TYPES[type ?? ''],
    items: TYPES[textUnder(own(said, 'items'), 'type') ?? ''],
    choices,
    labels,
    multiple: choices !== undefined && isMultiple ? {} : undefined,
  });
}

/** Keys that only distinguish variables, so that the name is inside. */
const IDENTIFIER = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Shape (c): `{type, description, defaultValues, allowEmpty, options, multiple}`; with `options` it is a choice. */
function describeVariable(key: string, said: JsonObject): TextField {
  optional(own(said, 'type'), scalarText);
  const { choices, labels } = optional(own(said, 'options'), choicesOf) ?? {};
  const several = own(said, 'multiple');
  const isMultiple = isObject(several) || several === true;
  const defaults = texts(own(said, 'defaultValues')).filter(text => text !== '');
  const name = IDENTIFIER.test(key) ? (textUnder(said, 'name', 'key') ?? key) : key;
  return field(name, own(said, 'allowEmpty') !== true, {
    description: textUnder(said, 'description', 'label', 'title'),
    // A list of nothing but empty texts is a form left blank, not a default.
    default: isMultiple && defaults.length > 0 ? defaults.join(', ') : defaults[0],
    choices,
    labels,
    multiple: choices?.length && isMultiple ? boundsOf(several) : undefined,
  });
}

function boundsOf(said: unknown): TextField['multiple'] {
  const [min, max] = [countOf(own(said, 'min')), countOf(own(said, 'max'))];
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

const JTD_KEYWORDS = ['properties', 'optionalProperties', 'additionalProperties', 'definitions', 'metadata'];
/** Definitions that refer to each other are followed no further than this. */
const MOST_REFERENCES = 10;

/** The JSON Type Definition of the inputs, and not an input that happens to be called so. */
function jtdIn(config: unknown): JsonObject | undefined {
  const texts = own(config, 'textInputs');
  const hasForm = (value: unknown): boolean =>
    ['properties', 'optionalProperties'].some(form => isObject(own(value, form)));
  const named = [own(config, 'inputsJTD'), own(texts, 'inputsJTD')].find(
    value => hasForm(value) || own(own(value, 'metadata'), 'imageCount') !== undefined,
  );
  const bare = [config, texts].find(
    value =>
      isObject(value) &&
      hasForm(value) &&
      Object.keys(value).every(key => JTD_KEYWORDS.includes(key)) &&
      ['properties', 'optionalProperties'].every(form =>
        Object.values(own(value, form) ?? {}).every(isObject),
      ),
  );
  const found = named ?? bare;
  return found === undefined ? undefined : part(found);
}

/** Shape (b): RFC 8927, with `description` and `default` in the metadata. */
function describeJtd(schema: JsonObject): TextField[] {
  const definitions = own(schema, 'definitions');
  const describe = (form: string, required: boolean): TextField[] =>
    Object.entries(own(schema, form) ?? {}).map(([key, said]) =>
      describeProperty(key, required, resolve(said, definitions), definitions),
    );
  return [...describe('properties', true), ...describe('optionalProperties', false)];
}

function describeProperty(key: string, required: boolean, said: JsonObject, definitions: unknown): TextField {
  const metadata = own(said, 'metadata');
  const listed = own(said, 'elements');
  const elements = listed === undefined ? undefined : resolve(listed, definitions);
  const { choices, labels } = optional(own(elements ?? said, 'enum'), choicesOf) ?? {};
  const type = optional(own(said, 'type'), scalarText) ?? '';
  const isObjectForm = ['properties', 'values', 'discriminator'].some(form => own(said, form) !== undefined);
  return field(key, required, {
    description: textUnder(metadata, 'description', 'title', 'label') ?? textUnder(said, 'description'),
    default: optional(own(metadata, 'default'), defaultOf),
    type: elements !== undefined ? 'array' : isObjectForm ? 'object' : TYPES[type],
    items: TYPES[textUnder(elements, 'type') ?? ''],
    choices,
    labels,
    multiple: elements !== undefined && choices !== undefined ? {} : undefined,
  });
}

/** Follows `{ref: name}` into the definitions. @throws {UnknownShape} if it leads nowhere */
function resolve(said: unknown, definitions: unknown): JsonObject {
  let found = said;
  for (let step = 0; step < MOST_REFERENCES; step += 1) {
    const name = own(found, 'ref');
    if (typeof name !== 'string') return part(found);
    found = own(definitions, name);
  }
  throw new UnknownShape();
}

/** The images from the first place that names any; undefined if none does. */
function imagesIn(config: unknown, jtd: unknown): readonly ImageField[] | undefined {
  const inputs = own(config, 'imageInputs');
  const places = [
    Array.isArray(inputs) ? inputs : own(inputs, 'images'),
    own(config, 'images'),
    own(own(config, 'textInputs'), 'images'),
  ].filter(Array.isArray);
  const counts = [jtd, inputs, own(inputs, 'inputsJTD')]
    .map(place => own(own(place, 'metadata'), 'imageCount'))
    .filter(count => count !== undefined);
  const isOther = inputs !== undefined && !Array.isArray(inputs) && places.length + counts.length === 0;
  if (isOther && !(isObject(inputs) && Object.keys(inputs).length === 0)) throw new UnknownShape();
  const found = [
    ...places.map(list => listOf(list).map(said => describeImage(part(said)))),
    ...counts.map(imagesCounted),
  ];
  if (found.some(images => images.length > MOST_IMAGES)) throw new UnknownShape();
  return found.find(images => images.length > 0) ?? found[0] ?? (inputs === undefined ? undefined : []);
}

function imagesCounted(count: unknown): readonly ImageField[] {
  const length = countOf(count);
  if (length === undefined || length > MOST_IMAGES) throw new UnknownShape();
  return Array.from({ length }, () => ({}));
}

function describeImage(said: JsonObject): ImageField {
  const name = textUnder(said, 'name', 'key');
  const description = textUnder(said, 'description', 'title', 'label');
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
}
