import { withoutUndefined } from '../../files/formats/json.ts';
import { findFirstText, formatScalar, toCount } from '../../files/formats/json-fields.ts';
import {
  isJsonObject,
  readListAt,
  readValueAt,
  type UncheckedObject,
} from '../../utils/bounded-json.ts';
import { isUuid } from '../../wire/index.ts';
import {
  asBoolean,
  createTextField,
  FIELD_TYPES,
  type ImageField,
  type InputFields,
  readDefaultText,
  readOptional,
  readScalarTexts,
  requireObject,
  type TextField,
  UnknownShapeError,
} from './input-fields.ts';

/** More images than any prompt needs. */
const MAX_IMAGES = 100;

/** Maximum number of references to follow between definitions. */
const MAX_REFERENCES = 10;

/** The keywords of JSON Type Definition (RFC 8927) that hold required and optional inputs. */
const JTD_FORMS = ['properties', 'optionalProperties'] as const;
/** All keywords of a definition of inputs. */
const JTD_KEYWORDS = [...JTD_FORMS, 'additionalProperties', 'definitions', 'metadata'];

const UNKNOWN_FIELDS: InputFields = { isKnown: false, text: [], images: [] };

/**
 * Returns the inputs that a prompt's config describes, in any of three shapes: (a) keyed objects
 * under `textInputs` and a list under `imageInputs`; (b) JSON Type Definition under `inputsJTD`, or
 * instead of the config or its texts; (c) `variables` and `images`. A search row may have a list of
 * configs. A shape counts as known only if every part of it does. Never throws.
 */
export function readInputFields(config: unknown): InputFields {
  return Array.isArray(config) ? mergeInputFields(readListAt(config)) : readSingleConfig(config);
}

/** Merges the texts of all configs, and takes the images of the first that has any. */
function mergeInputFields(configs: readonly unknown[]): InputFields {
  const descriptions = configs.map(readSingleConfig);
  const isKnown =
    descriptions.length > 0 && descriptions.every(({ isKnown: isShapeKnown }) => isShapeKnown);
  if (!isKnown) return UNKNOWN_FIELDS;

  const text = pickFirstByKey(descriptions.flatMap(fields => fields.text));
  const images = descriptions.find(fields => fields.images.length > 0)?.images ?? [];
  return { isKnown, text, images };
}

function pickFirstByKey(fields: readonly TextField[]): TextField[] {
  return [...new Map(fields.toReversed().map(field => [field.key, field])).values()].toReversed();
}

function readSingleConfig(config: unknown): InputFields {
  try {
    const jtd = findJtd(config);
    const text = jtd === undefined ? findTextFields(config) : readJtdFields(jtd);
    const images = findImageFields(config, jtd);
    if (text === undefined && images === undefined) return UNKNOWN_FIELDS;
    return { isKnown: true, text: pickFirstByKey(text ?? []), images: images ?? [] };
  } catch (error) {
    if (error instanceof UnknownShapeError) return UNKNOWN_FIELDS;
    throw error;
  }
}

function findTextFields(config: unknown): TextField[] | undefined {
  const texts = readValueAt(config, 'textInputs');
  const candidates = [readValueAt(config, 'variables'), readValueAt(texts, 'variables')];
  const variables = candidates.find(
    value => isJsonObject(value) && Object.values(value).every(isJsonObject),
  );
  if (variables !== undefined) {
    return Object.entries(requireObject(variables)).map(([key, variable]) =>
      readVariableField(key, requireObject(variable)),
    );
  }

  if (texts === undefined) return undefined;
  return Object.entries(requireObject(texts)).map(([key, input]) =>
    readKeyedInput(key, requireObject(input)),
  );
}

/** Reads shape (a): `{type, description, required, default, enum}`. */
function readKeyedInput(key: string, input: UncheckedObject): TextField {
  const type = readOptional(readValueAt(input, 'type'), formatScalar);
  const choices =
    readValueAt(input, 'enum') ??
    readValueAt(input, 'options') ??
    readValueAt(input, 'items', 'enum');
  const isRequired = readOptional(readValueAt(input, 'required'), asBoolean) !== false;
  const isMultiple =
    readOptional(readValueAt(input, 'multiple'), asBoolean) === true || type === 'array';

  return createTextField(key, {
    required: isRequired && readValueAt(input, 'optional') !== true,
    choiceValues: choices,
    description: findFirstText(input, 'description', 'title', 'label'),
    default: readOptional(readValueAt(input, 'default'), readDefaultText),
    type: FIELD_TYPES[type ?? ''],
    items: FIELD_TYPES[findFirstText(readValueAt(input, 'items'), 'type') ?? ''],
    multiple: isMultiple ? {} : undefined,
  });
}

/**
 * Reads shape (c): `{type, description, defaultValues, allowEmpty, options, multiple}`; with
 * `options` it is a choice.
 */
function readVariableField(key: string, variable: UncheckedObject): TextField {
  readOptional(readValueAt(variable, 'type'), formatScalar);
  const multiple = readValueAt(variable, 'multiple');
  const isMultiple = isJsonObject(multiple) || multiple === true;
  const defaults = readScalarTexts(readValueAt(variable, 'defaultValues')).filter(
    text => text !== '',
  );

  // A variable with a number or an id as its key has its name inside.
  const isNamedInside = /^\d+$/u.test(key) || isUuid(key);
  const name = (isNamedInside ? findFirstText(variable, 'name', 'key') : undefined) ?? key;
  return createTextField(name, {
    required: readValueAt(variable, 'allowEmpty') !== true,
    choiceValues: readValueAt(variable, 'options'),
    description: findFirstText(variable, 'description', 'label', 'title'),
    // A list of empty texts is a form to fill in, not a default.
    default: isMultiple && defaults.length > 0 ? defaults.join(', ') : defaults[0],
    multiple: isMultiple ? readChoiceLimits(multiple) : undefined,
  });
}

function readChoiceLimits(multiple: unknown): TextField['multiple'] {
  return withoutUndefined({
    min: toCount(readValueAt(multiple, 'min')),
    max: toCount(readValueAt(multiple, 'max')),
  });
}

/**
 * Returns the JSON Type Definition of the inputs, but not an input that happens to have that name.
 */
function findJtd(config: unknown): UncheckedObject | undefined {
  const texts = readValueAt(config, 'textInputs');
  const hasForm = (value: unknown): boolean =>
    JTD_FORMS.some(form => isJsonObject(readValueAt(value, form)));
  const namedDefinition = [readValueAt(config, 'inputsJTD'), readValueAt(texts, 'inputsJTD')].find(
    value => hasForm(value) || readValueAt(value, 'metadata', 'imageCount') !== undefined,
  );
  const bareDefinition = [config, texts].find(
    value =>
      isJsonObject(value) &&
      hasForm(value) &&
      Object.keys(value).every(key => JTD_KEYWORDS.includes(key)) &&
      JTD_FORMS.every(form => Object.values(readValueAt(value, form) ?? {}).every(isJsonObject)),
  );
  const jtd = namedDefinition ?? bareDefinition;

  return jtd === undefined ? undefined : requireObject(jtd);
}

/** Reads shape (b): JSON Type Definition, with `description` and `default` in the metadata. */
function readJtdFields(schema: UncheckedObject): TextField[] {
  const definitions = readValueAt(schema, 'definitions');
  return JTD_FORMS.flatMap(form =>
    Object.entries(readValueAt(schema, form) ?? {}).map(([key, property]) =>
      readJtdProperty(key, resolveReference(property, definitions), {
        required: form === 'properties',
        definitions,
      }),
    ),
  );
}

function readJtdProperty(
  key: string,
  property: UncheckedObject,
  { required, definitions }: { readonly required: boolean; readonly definitions: unknown },
): TextField {
  const metadata = readValueAt(property, 'metadata');
  const itemForm = readValueAt(property, 'elements');
  const elements = itemForm === undefined ? undefined : resolveReference(itemForm, definitions);
  const type = readOptional(readValueAt(property, 'type'), formatScalar) ?? '';
  const isObjectForm = ['properties', 'values', 'discriminator'].some(
    form => readValueAt(property, form) !== undefined,
  );
  const scalar = isObjectForm ? 'object' : FIELD_TYPES[type];

  return createTextField(key, {
    required,
    choiceValues: readValueAt(elements ?? property, 'enum'),
    description:
      findFirstText(metadata, 'description', 'title', 'label') ??
      findFirstText(property, 'description'),
    default: readOptional(readValueAt(metadata, 'default'), readDefaultText),
    type: elements === undefined ? scalar : 'array',
    items: FIELD_TYPES[findFirstText(elements, 'type') ?? ''],
    multiple: elements === undefined ? undefined : {},
  });
}

/** Follows `{ref: name}` into the definitions. @throws {UnknownShapeError} if it leads nowhere */
function resolveReference(form: unknown, definitions: unknown): UncheckedObject {
  let target = form;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    const name = readValueAt(target, 'ref');
    if (typeof name !== 'string') return requireObject(target);
    target = readValueAt(definitions, name);
  }
  throw new UnknownShapeError();
}

/** Returns the images from the first place that names any; undefined if none does. */
function findImageFields(config: unknown, jtd: unknown): readonly ImageField[] | undefined {
  const inputs = readValueAt(config, 'imageInputs');
  const namedLists = [
    Array.isArray(inputs) ? inputs : readValueAt(inputs, 'images'),
    readValueAt(config, 'images'),
    readValueAt(config, 'textInputs', 'images'),
  ].filter(Array.isArray);

  const counts = [jtd, inputs, readValueAt(inputs, 'inputsJTD')]
    .map(source => readValueAt(source, 'metadata', 'imageCount'))
    .filter(count => count !== undefined);
  const lists = [...namedLists, ...counts.map(createUnnamedImages)].map(list =>
    readListAt(list).map(readImageField),
  );
  if (lists.some(images => images.length > MAX_IMAGES)) throw new UnknownShapeError();
  if (lists.length > 0) return lists.find(images => images.length > 0) ?? lists[0];
  if (inputs === undefined) return undefined;
  if (isJsonObject(inputs) && Object.keys(inputs).length === 0) return [];

  throw new UnknownShapeError();
}

function createUnnamedImages(count: unknown): readonly UncheckedObject[] {
  const length = toCount(count);
  if (length === undefined || length > MAX_IMAGES) throw new UnknownShapeError();
  return Array.from({ length }, () => ({}));
}

function readImageField(image: unknown): ImageField {
  return withoutUndefined({
    name: findFirstText(requireObject(image), 'name', 'key'),
    description: findFirstText(image, 'description', 'title', 'label'),
  });
}
