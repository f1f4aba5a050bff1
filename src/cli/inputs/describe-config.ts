import { withoutUndefined } from '../../files/formats/json.ts';
import { asCount, firstText, scalarText } from '../../files/formats/json-fields.ts';
import { isJsonObject, listAt, type UncheckedObject, valueAt } from '../../utils/bounded-json.ts';
import { isUuid } from '../../wire/index.ts';
import {
  defaultText,
  FIELD_TYPES,
  type ImageField,
  type InputFields,
  readBoolean,
  readOptional,
  requireObject,
  scalarTexts,
  type TextField,
  textField,
  UnknownShape,
} from './input-fields.ts';

/** More images than any prompt needs. */
const MAX_IMAGES = 100;
const UNKNOWN: InputFields = { isKnown: false, text: [], images: [] };

/**
 * Returns the inputs that a prompt's config describes, in any of three shapes: (a) keyed objects under `textInputs`
 * and a list under `imageInputs`; (b) JSON Type Definition under `inputsJTD`, or instead of the config or its texts;
 * (c) `variables` and `images`. A search row may have a list of configs. A shape counts as known only if every part
 * of it does. Never throws.
 */
export function describeConfig(config: unknown): InputFields {
  return Array.isArray(config) ? describeList(listAt(config)) : describeOne(config);
}

/** Merges the texts of all configs, and takes the images of the first that has any. */
function describeList(configs: readonly unknown[]): InputFields {
  const all = configs.map(describeOne);
  if (all.length === 0 || all.some(({ isKnown }) => !isKnown)) return UNKNOWN;
  const images = all.find(config => config.images.length > 0)?.images ?? [];
  return { isKnown: true, text: firstByKey(all.flatMap(({ text }) => text)), images };
}

function firstByKey(fields: readonly TextField[]): TextField[] {
  return [...new Map(fields.toReversed().map(field => [field.key, field])).values()].toReversed();
}

function describeOne(config: unknown): InputFields {
  try {
    const jtd = jtdIn(config);
    const text = jtd === undefined ? textFieldsIn(config) : describeJtd(jtd);
    const images = imagesIn(config, jtd);
    if (text === undefined && images === undefined) return UNKNOWN;
    return { isKnown: true, text: firstByKey(text ?? []), images: images ?? [] };
  } catch (error) {
    if (error instanceof UnknownShape) return UNKNOWN;
    throw error;
  }
}

function textFieldsIn(config: unknown): TextField[] | undefined {
  const texts = valueAt(config, 'textInputs');
  const variables = [valueAt(config, 'variables'), valueAt(texts, 'variables')].find(
    value => isJsonObject(value) && Object.values(value).every(isJsonObject),
  );
  if (variables !== undefined) {
    return Object.entries(requireObject(variables)).map(([key, variable]) =>
      describeVariable(key, requireObject(variable)),
    );
  }
  if (texts === undefined) return undefined;
  return Object.entries(requireObject(texts)).map(([key, input]) => describeKeyed(key, requireObject(input)));
}

/** Reads shape (a): `{type, description, required, default, enum}`. */
function describeKeyed(key: string, input: UncheckedObject): TextField {
  const type = readOptional(valueAt(input, 'type'), scalarText);
  const choices = valueAt(input, 'enum') ?? valueAt(input, 'options') ?? valueAt(input, 'items', 'enum');
  const isRequired = readOptional(valueAt(input, 'required'), readBoolean) !== false;
  const isMultiple = readOptional(valueAt(input, 'multiple'), readBoolean) === true || type === 'array';
  return textField(key, {
    required: isRequired && valueAt(input, 'optional') !== true,
    choiceValues: choices,
    description: firstText(input, 'description', 'title', 'label'),
    default: readOptional(valueAt(input, 'default'), defaultText),
    type: FIELD_TYPES[type ?? ''],
    items: FIELD_TYPES[firstText(valueAt(input, 'items'), 'type') ?? ''],
    multiple: isMultiple ? {} : undefined,
  });
}

/** Reads shape (c): `{type, description, defaultValues, allowEmpty, options, multiple}`; with `options` it is a choice. */
function describeVariable(key: string, variable: UncheckedObject): TextField {
  readOptional(valueAt(variable, 'type'), scalarText);
  const several = valueAt(variable, 'multiple');
  const isMultiple = isJsonObject(several) || several === true;
  const defaults = scalarTexts(valueAt(variable, 'defaultValues')).filter(text => text !== '');
  // Such keys only number the variables; the names are inside.
  const name = /^\d+$/u.test(key) || isUuid(key) ? (firstText(variable, 'name', 'key') ?? key) : key;
  return textField(name, {
    required: valueAt(variable, 'allowEmpty') !== true,
    choiceValues: valueAt(variable, 'options'),
    description: firstText(variable, 'description', 'label', 'title'),
    // A list of empty texts is a form to fill in, not a default.
    default: isMultiple && defaults.length > 0 ? defaults.join(', ') : defaults[0],
    multiple: isMultiple ? readBounds(several) : undefined,
  });
}

function readBounds(multiple: unknown): TextField['multiple'] {
  return withoutUndefined({
    min: asCount(valueAt(multiple, 'min')),
    max: asCount(valueAt(multiple, 'max')),
  });
}

const JTD_KEYWORDS = ['properties', 'optionalProperties', 'additionalProperties', 'definitions', 'metadata'];
/** Maximum number of references to follow between definitions. */
const MAX_REFERENCES = 10;

/** Returns the JSON Type Definition of the inputs, but not an input that happens to have that name. */
function jtdIn(config: unknown): UncheckedObject | undefined {
  const texts = valueAt(config, 'textInputs');
  const hasForm = (value: unknown): boolean =>
    ['properties', 'optionalProperties'].some(form => isJsonObject(valueAt(value, form)));
  const namedDefinition = [valueAt(config, 'inputsJTD'), valueAt(texts, 'inputsJTD')].find(
    value => hasForm(value) || valueAt(value, 'metadata', 'imageCount') !== undefined,
  );
  const bareDefinition = [config, texts].find(
    value =>
      isJsonObject(value) &&
      hasForm(value) &&
      Object.keys(value).every(key => JTD_KEYWORDS.includes(key)) &&
      ['properties', 'optionalProperties'].every(form =>
        Object.values(valueAt(value, form) ?? {}).every(isJsonObject),
      ),
  );
  const jtd = namedDefinition ?? bareDefinition;
  return jtd === undefined ? undefined : requireObject(jtd);
}

/** Reads shape (b): RFC 8927, with `description` and `default` in the metadata. */
function describeJtd(schema: UncheckedObject): TextField[] {
  const definitions = valueAt(schema, 'definitions');
  const describe = (form: 'properties' | 'optionalProperties'): TextField[] =>
    Object.entries(valueAt(schema, form) ?? {}).map(([key, property]) =>
      describeProperty(key, resolveReference(property, definitions), {
        required: form === 'properties',
        definitions,
      }),
    );
  return [...describe('properties'), ...describe('optionalProperties')];
}

function describeProperty(
  key: string,
  property: UncheckedObject,
  { required, definitions }: { readonly required: boolean; readonly definitions: unknown },
): TextField {
  const metadata = valueAt(property, 'metadata');
  const itemForm = valueAt(property, 'elements');
  const elements = itemForm === undefined ? undefined : resolveReference(itemForm, definitions);
  const type = readOptional(valueAt(property, 'type'), scalarText) ?? '';
  const isObjectForm = ['properties', 'values', 'discriminator'].some(
    form => valueAt(property, form) !== undefined,
  );
  const scalar = isObjectForm ? 'object' : FIELD_TYPES[type];
  return textField(key, {
    required,
    choiceValues: valueAt(elements ?? property, 'enum'),
    description: firstText(metadata, 'description', 'title', 'label') ?? firstText(property, 'description'),
    default: readOptional(valueAt(metadata, 'default'), defaultText),
    type: elements === undefined ? scalar : 'array',
    items: FIELD_TYPES[firstText(elements, 'type') ?? ''],
    multiple: elements !== undefined ? {} : undefined,
  });
}

/** Follows `{ref: name}` into the definitions. @throws {UnknownShape} if it leads nowhere */
function resolveReference(form: unknown, definitions: unknown): UncheckedObject {
  let target = form;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    const name = valueAt(target, 'ref');
    if (typeof name !== 'string') return requireObject(target);
    target = valueAt(definitions, name);
  }
  throw new UnknownShape();
}

/** Returns the images from the first place that names any; undefined if none does. */
function imagesIn(config: unknown, jtd: unknown): readonly ImageField[] | undefined {
  const inputs = valueAt(config, 'imageInputs');
  const namedLists = [
    Array.isArray(inputs) ? inputs : valueAt(inputs, 'images'),
    valueAt(config, 'images'),
    valueAt(config, 'textInputs', 'images'),
  ].filter(Array.isArray);
  const counts = [jtd, inputs, valueAt(inputs, 'inputsJTD')]
    .map(place => valueAt(place, 'metadata', 'imageCount'))
    .filter(count => count !== undefined);
  const lists = [...namedLists, ...counts.map(unnamedImages)].map(list => listAt(list).map(imageField));
  if (lists.some(images => images.length > MAX_IMAGES)) throw new UnknownShape();
  if (lists.length > 0) return lists.find(images => images.length > 0) ?? lists[0];
  if (inputs === undefined) return undefined;
  if (isJsonObject(inputs) && Object.keys(inputs).length === 0) return [];
  throw new UnknownShape();
}

function unnamedImages(count: unknown): readonly UncheckedObject[] {
  const length = asCount(count);
  if (length === undefined || length > MAX_IMAGES) throw new UnknownShape();
  return Array.from({ length }, () => ({}));
}

function imageField(image: unknown): ImageField {
  return withoutUndefined({
    name: firstText(requireObject(image), 'name', 'key'),
    description: firstText(image, 'description', 'title', 'label'),
  });
}
