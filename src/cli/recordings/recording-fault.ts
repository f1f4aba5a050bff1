import { isJsonObject } from '../../utils/bounded-json.ts';
import { findDefined } from '../../utils/find-defined.ts';
import { PROVIDER_FAULTS } from '../core/exit-codes.ts';

/** Returns the fault of a field's value as text; undefined if there is none. */
type FieldCheck = (value: unknown, name: string) => string | undefined;

/**
 * Returns the first fault of a recording, such as a field of the wrong type, because recordings may
 * be untrusted; undefined if there is none.
 */
export function findRecordingFault(value: unknown): string | undefined {
  return recordingField(value, 'it');
}

/**
 * Returns the first fault of a recorded answer to a request other than a creation; undefined if
 * there is none.
 */
export function findAnswerFault(value: unknown): string | undefined {
  return otherAnswerField(value, 'it');
}

const textField: FieldCheck = (value, name) =>
  typeof value === 'string' ? undefined : `${name} is not text`;

const countField: FieldCheck = (value, name) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : `${name} is not a count`;

const amountField: FieldCheck = (value, name) =>
  Number.isFinite(value) && Number(value) >= 0 ? undefined : `${name} is not an amount`;

const flagField: FieldCheck = (value, name) =>
  typeof value === 'boolean' ? undefined : `${name} is not true or false`;

const digestField: FieldCheck = (value, name) =>
  typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value)
    ? undefined
    : `${name} is not a SHA-256 (64 hexadecimal digits)`;

function nullableField(check: FieldCheck): FieldCheck {
  return (value, name) => (value === null ? undefined : check(value, name));
}

/** Also accepts null, which stands for an unknown fact. */
function optionalField(check: FieldCheck): FieldCheck {
  return (value, name) => (value === undefined || value === null ? undefined : check(value, name));
}

function wordField(words: readonly string[]): FieldCheck {
  return (value, name) =>
    words.some(word => word === value) ? undefined : `${name} is not one of ${words.join(', ')}`;
}

function listField(check: FieldCheck): FieldCheck {
  return (value, name) => {
    if (!Array.isArray(value)) return `${name} is not a list`;
    return findDefined(value.entries(), ([index, item]) => check(item, `${name}[${index}]`));
  };
}

function mapField(check: FieldCheck): FieldCheck {
  return (value, name) => {
    if (!isJsonObject(value)) return `${name} is not an object`;
    return findDefined(Object.entries(value), ([key, item]) => check(item, `${name}.${key}`));
  };
}

function objectField(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return (value, name) => {
    if (!isJsonObject(value)) return `${name} is not an object`;
    return findDefined(Object.entries(checks), ([key, check]) =>
      check(
        Object.hasOwn(value, key) ? value[key] : undefined,
        name === 'it' ? key : `${name}.${key}`,
      ),
    );
  };
}

/** Checks an object whose fields may be omitted or null. */
function looseObjectField(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return objectField(
    Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, optionalField(check)])),
  );
}

/**
 * Checks a run. Its id, status and outputs can't be null: an answer without them is not a run that
 * could be replayed.
 */
const runField = objectField({
  runId: textField,
  runStatus: textField,
  outputs: listField(
    objectField({ type: nullableField(textField), data: nullableField(textField) }),
  ),
  tokens: nullableField(countField),
  warnings: optionalField(listField(textField)),
});

const envelopeField: FieldCheck = (value, name) =>
  objectField({ status: textField, message: optionalField(textField) })(value, name) ??
  (isJsonObject(value) && !('data' in value) && value['status'] === 'SUCCESS'
    ? `${name}.data is missing`
    : undefined);

const answerField = objectField({ httpStatus: countField, body: envelopeField });

const PROMPT_FIELDS = {
  promptId: textField,
  promptVersionId: textField,
  slug: textField,
  title: textField,
  description: textField,
  publishedAt: textField,
};

/**
 * The checks for the fields of lists, prompts, versions and models, by their names in the
 * interface.
 */
const dataField = looseObjectField({
  ...PROMPT_FIELDS,
  hasMore: flagField,
  rows: listField(
    looseObjectField({
      ...PROMPT_FIELDS,
      model: countField,
      modality: countField,
      estimatedCredits: amountField,
      uses: countField,
      upVotes: countField,
      labels: listField(looseObjectField({ label: textField, promptVersionId: textField })),
    }),
  ),
  versions: listField(
    looseObjectField({
      promptVersionId: textField,
      publishedAt: textField,
      isLatest: flagField,
      labels: listField(textField),
    }),
  ),
  resources: looseObjectField({
    models: listField(
      looseObjectField({
        model: textField,
        modality: textField,
        availableRunOptions: listField(
          looseObjectField({ key: textField, options: listField(textField) }),
        ),
      }),
    ),
  }),
});

/**
 * Checks an answer to a request other than a creation. Only successes are checked; the data of a
 * fault may have any form.
 */
const otherAnswerField: FieldCheck = (value, name) =>
  objectField({ request: optionalField(textField) })(value, name) ??
  answerField(value, name) ??
  (isJsonObject(value) && value['httpStatus'] === 200 && isJsonObject(value['body'])
    ? nullableField(dataField)(value['body']['data'], 'body.data')
    : undefined);

const creationField: FieldCheck = (value, name) =>
  answerField(value, name) ??
  (isJsonObject(value) && value['httpStatus'] === 200 && isJsonObject(value['body'])
    ? runField(value['body']['data'], `${name}.body.data`)
    : undefined);

const recordingField = objectField({
  request: objectField({
    promptVersionId: textField,
    textInputs: mapField(textField),
    imageInputs: listField(textField),
    runOptions: mapField(textField),
    model: nullableField(textField),
    schema: nullableField(textField),
    repetition: countField,
  }),
  answer: creationField,
  media: listField(
    objectField({ url: textField, sha256: digestField, contentType: nullableField(textField) }),
  ),
  notKept: optionalField(listField(textField)),
  fault: optionalField(wordField(Object.keys(PROVIDER_FAULTS))),
  cost: optionalField(amountField),
});
