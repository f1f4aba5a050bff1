import { isJsonObject } from '../../utils/bounded-json.ts';
import { firstDefined } from '../../utils/first-defined.ts';
import { PROVIDER_FAULTS } from '../core/exit-codes.ts';

/** Explains the fault of a field's value; undefined if there is none. */
type FieldCheck = (value: unknown, name: string) => string | undefined;

/** Explains the first field of a recording that has the wrong type; recordings may be a stranger's. */
export function recordingFault(value: unknown): string | undefined {
  return RECORDING(value, 'it');
}

/** Explains the first fault of a recorded answer to a request other than a creation. */
export function answerFault(value: unknown): string | undefined {
  return OTHER_ANSWER(value, 'it');
}

const fieldText: FieldCheck = (value, name) =>
  typeof value === 'string' ? undefined : `${name} is not text`;
const count: FieldCheck = (value, name) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : `${name} is not a count`;
const amount: FieldCheck = (value, name) =>
  Number.isFinite(value) && Number(value) >= 0 ? undefined : `${name} is not an amount`;
const digest: FieldCheck = (value, name) =>
  typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value)
    ? undefined
    : `${name} is not a SHA-256 (64 hexadecimal digits)`;

function fieldOrNull(check: FieldCheck): FieldCheck {
  return (value, name) => (value === null ? undefined : check(value, name));
}

/** Also accepts null, which stands for an unknown fact. */
function optional(check: FieldCheck): FieldCheck {
  return (value, name) => (value === undefined || value === null ? undefined : check(value, name));
}

function fieldOneOf(optionalFields: readonly string[]): FieldCheck {
  return (value, name) =>
    optionalFields.some(word => word === value)
      ? undefined
      : `${name} is not one of ${optionalFields.join(', ')}`;
}

function fieldList(check: FieldCheck): FieldCheck {
  return (value, name) => {
    if (!Array.isArray(value)) return `${name} is not a list`;
    return firstDefined(value.entries(), ([at, item]) => check(item, `${name}[${at}]`));
  };
}

function map(check: FieldCheck): FieldCheck {
  return (value, name) => {
    if (!isJsonObject(value)) return `${name} is not an object`;
    return firstDefined(Object.entries(value), ([key, item]) => check(item, `${name}.${key}`));
  };
}

function requiredFields(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return (value, name) => {
    if (!isJsonObject(value)) return `${name} is not an object`;
    return firstDefined(Object.entries(checks), ([key, check]) =>
      check(Object.hasOwn(value, key) ? value[key] : undefined, name === 'it' ? key : `${name}.${key}`),
    );
  };
}

/** Checks a run. Its id, status and outputs can't be null: an answer without them is not a run that could be replayed. */
const RUN_FIELDS = requiredFields({
  runId: fieldText,
  runStatus: fieldText,
  outputs: fieldList(requiredFields({ type: fieldOrNull(fieldText), data: fieldOrNull(fieldText) })),
  tokens: fieldOrNull(count),
  warnings: optional(fieldList(fieldText)),
});

const ENVELOPE: FieldCheck = (value, name) =>
  requiredFields({ status: fieldText, message: optional(fieldText) })(value, name) ??
  (isJsonObject(value) && !('data' in value) && value['status'] === 'SUCCESS'
    ? `${name}.data is missing`
    : undefined);

const ANSWER = requiredFields({ httpStatus: count, body: ENVELOPE });

/** Checks fields of the interface that may be omitted or null. */
function known(checks: Readonly<Record<string, FieldCheck>>): FieldCheck {
  return requiredFields(
    Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, optional(check)])),
  );
}

const flag: FieldCheck = (value, name) =>
  typeof value === 'boolean' ? undefined : `${name} is not true or false`;

const NAMES = {
  promptId: fieldText,
  promptVersionId: fieldText,
  slug: fieldText,
  title: fieldText,
  description: fieldText,
  publishedAt: fieldText,
};

/** The checks for the fields of lists, prompts, versions and models, by their names in the interface. */
const DATA = known({
  ...NAMES,
  hasMore: flag,
  rows: fieldList(
    known({
      ...NAMES,
      model: count,
      modality: count,
      estimatedCredits: amount,
      uses: count,
      upVotes: count,
      labels: fieldList(known({ label: fieldText, promptVersionId: fieldText })),
    }),
  ),
  versions: fieldList(
    known({
      promptVersionId: fieldText,
      publishedAt: fieldText,
      isLatest: flag,
      labels: fieldList(fieldText),
    }),
  ),
  resources: known({
    models: fieldList(
      known({
        model: fieldText,
        modality: fieldText,
        availableRunOptions: fieldList(known({ key: fieldText, options: fieldList(fieldText) })),
      }),
    ),
  }),
});

/**
 * Checks an answer to a request other than a creation. Only successes are checked; the data of a fault may have any
 * form.
 */
const OTHER_ANSWER: FieldCheck = (value, name) =>
  requiredFields({ request: optional(fieldText) })(value, name) ??
  ANSWER(value, name) ??
  (isJsonObject(value) && value['httpStatus'] === 200 && isJsonObject(value['body'])
    ? fieldOrNull(DATA)(value['body']['data'], 'body.data')
    : undefined);

const CREATION: FieldCheck = (value, name) =>
  ANSWER(value, name) ??
  (isJsonObject(value) && value['httpStatus'] === 200 && isJsonObject(value['body'])
    ? RUN_FIELDS(value['body']['data'], `${name}.body.data`)
    : undefined);

const RECORDING = requiredFields({
  request: requiredFields({
    promptVersionId: fieldText,
    textInputs: map(fieldText),
    imageInputs: fieldList(fieldText),
    runOptions: map(fieldText),
    model: fieldOrNull(fieldText),
    schema: fieldOrNull(fieldText),
    repetition: count,
  }),
  answer: CREATION,
  media: fieldList(requiredFields({ url: fieldText, sha256: digest, contentType: fieldOrNull(fieldText) })),
  notKept: optional(fieldList(fieldText)),
  fault: optional(fieldOneOf(Object.keys(PROVIDER_FAULTS))),
  cost: optional(amount),
});
