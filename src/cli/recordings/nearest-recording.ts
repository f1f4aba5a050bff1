import { shorten } from '../../utils/shorten.ts';
import type { RecordedRequest } from './recorder.ts';
import type { Recording } from './recording-directory.ts';

/** The recording that is most similar to a request. */
interface NearestRecording {
  readonly file: string;
  readonly differenceText: string;
  /** False if the prompt's content differs, or it is another prompt. */
  readonly isSameVersion: boolean;
}

const IMAGE_PREFIX = 'image ';
const VERSION_FIELD = 'the prompt version';

/**
 * Maximum number of differences to name; an untrusted recording may differ in any number of inputs.
 */
const MAX_NAMED_DIFFERENCES = 20;
const MAX_FIELD_NAME_LENGTH = 100;
const MAX_FIELD_VALUE_LENGTH = 40;

/**
 * The weight of a field's difference; default 1. A recording of the version itself is always nearer
 * than any other.
 */
const FIELD_WEIGHTS: Readonly<Record<string, number>> = {
  [VERSION_FIELD]: 1_000_000,
  'the repetition': 0.5,
};

/**
 * Returns the recording that is most similar to a request, and the differences; undefined without
 * recordings.
 */
export async function findNearestRecording(
  request: RecordedRequest,
  recordings: AsyncIterable<{ readonly file: string; readonly recording: Recording }>,
): Promise<NearestRecording | undefined> {
  const requestFields = toRequestFields(request);
  let nearestSoFar: (NearestRecording & { readonly weight: number }) | undefined;
  for await (const { file, recording } of recordings) {
    const recordingFields = toRequestFields(recording.request);
    const allNames = new Set([...recordingFields.keys(), ...requestFields.keys()]);
    const differingNames = [...allNames].filter(
      name => (recordingFields.get(name) ?? null) !== (requestFields.get(name) ?? null),
    );
    const weight = differingNames.reduce((sum, name) => sum + (FIELD_WEIGHTS[name] ?? 1), 0);
    if (nearestSoFar !== undefined && nearestSoFar.weight <= weight) continue;

    nearestSoFar = {
      file,
      weight,
      differenceText: describeDifferences(differingNames, recordingFields, requestFields),
      isSameVersion: !differingNames.includes(VERSION_FIELD),
    };
  }

  return nearestSoFar;
}

function toRequestFields(request: RecordedRequest): Map<string, string | null> {
  const { promptVersionId, textInputs, runOptions, imageInputs, model, schema, repetition } =
    request;
  return new Map([
    [VERSION_FIELD, promptVersionId.toLowerCase()],
    ...Object.entries(textInputs).map(
      ([key, value]) => [`the input ${JSON.stringify(key)}`, value] as const,
    ),
    ...Object.entries(runOptions).map(
      ([key, value]) => [`the option ${JSON.stringify(key)}`, value] as const,
    ),
    ...imageInputs.map((image, index) => [`${IMAGE_PREFIX}${index + 1}`, image] as const),
    ['the model', model],
    ['the schema', schema],
    ['the repetition', String(repetition)],
  ]);
}

type RequestFields = ReadonlyMap<string, string | null>;

function describeDifferences(
  names: readonly string[],
  recordingFields: RequestFields,
  requestFields: RequestFields,
): string {
  const texts = names.slice(0, MAX_NAMED_DIFFERENCES).map(name => {
    const values = describeFieldDifference(
      name,
      recordingFields.get(name),
      requestFields.get(name),
    );
    return `${shorten(name, MAX_FIELD_NAME_LENGTH)} (${values})`;
  });
  const unnamedCount = names.length - texts.length;
  return [...texts, ...(unnamedCount > 0 ? [`and ${unnamedCount} more`] : [])].join(', ');
}

/** Describes a difference. Leaves out digests of images, which mean nothing to people. */
function describeFieldDifference(
  name: string,
  recordedValue: string | null = null,
  requestedValue: string | null = null,
): string {
  if (!name.startsWith(IMAGE_PREFIX)) {
    return `${shortenValue(recordedValue)} there, ${shortenValue(requestedValue)} here`;
  }
  if (recordedValue === null) return 'none there';
  return requestedValue === null ? 'none here' : 'another one';
}

function shortenValue(value: string | null): string {
  if (value === null) return 'none';
  return JSON.stringify(shorten(value, MAX_FIELD_VALUE_LENGTH));
}
