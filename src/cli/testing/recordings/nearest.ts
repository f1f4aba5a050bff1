import type { RecordedRequest } from '../../core/recorder.ts';
import type { Recording } from './recording.ts';

/** The recording most like a request, and in what it differs; undefined where there is none at all. */
export async function nearestRecording(
  request: RecordedRequest,
  recordings: AsyncIterable<{ readonly file: string; readonly recording: Recording }>,
): Promise<{ readonly file: string; readonly difference: string } | undefined> {
  let nearest: { readonly file: string; readonly difference: string; readonly weight: number } | undefined;
  for await (const { file, recording } of recordings) {
    const differences = differencesOf(recording.request, request);
    const weight = differences.reduce((sum, difference) => sum + difference.weight, 0);
    if (nearest !== undefined && nearest.weight <= weight) continue;
    nearest = { file, weight, difference: differences.map(({ text }) => text).join(', ') };
  }
  return nearest;
}

interface Difference {
  readonly text: string;
  /** How much it sets two requests apart. */
  readonly weight: number;
}

function differencesOf(recorded: RecordedRequest, request: RecordedRequest): Difference[] {
  return [
    ...unless(
      recorded.promptVersionId.toLowerCase() === request.promptVersionId.toLowerCase(),
      `the prompt version (${recorded.promptVersionId} there, ${request.promptVersionId} here)`,
      4,
    ),
    ...mapDifferences('the input', recorded.textInputs, request.textInputs),
    ...mapDifferences('the option', recorded.runOptions, request.runOptions),
    ...imageDifferences(recorded.imageInputs, request.imageInputs),
    ...unless(
      recorded.model === request.model,
      `the model (${difference(recorded.model, request.model)})`,
      1,
    ),
    ...unless(recorded.schema === request.schema, 'the schema', 1),
    ...unless(
      recorded.repetition === request.repetition,
      `the repetition (${recorded.repetition} there, ${request.repetition} here)`,
      0.5,
    ),
  ];
}

function unless(same: boolean, text: string, weight: number): Difference[] {
  return same ? [] : [{ text, weight }];
}

function mapDifferences(
  what: string,
  recorded: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): Difference[] {
  const keys = [...new Set([...Object.keys(recorded), ...Object.keys(given)])];
  const value = (map: Readonly<Record<string, string>>, key: string): string | null =>
    Object.hasOwn(map, key) ? (map[key] ?? null) : null;
  return keys.flatMap(key =>
    unless(
      value(recorded, key) === value(given, key),
      `${what} ${JSON.stringify(key)} (${difference(value(recorded, key), value(given, key))})`,
      1,
    ),
  );
}

function imageDifferences(recorded: readonly string[], given: readonly string[]): Difference[] {
  return Array.from({ length: Math.max(recorded.length, given.length) }, (_, at) =>
    unless(recorded[at] === given[at], `image ${at + 1}`, 1),
  ).flat();
}

function difference(there: string | null, here: string | null): string {
  return `${short(there)} there, ${short(here)} here`;
}

function short(value: string | null): string {
  if (value === null) return 'none';
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value);
}
