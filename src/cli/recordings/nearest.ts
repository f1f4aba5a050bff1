import type { RecordedRequest } from '../core/recorder.ts';
import type { Recording } from './recording.ts';

/** The recording most like a request, and in what it differs; undefined if there is none at all. */
export async function nearestRecording(
  request: RecordedRequest,
  recordings: AsyncIterable<{ readonly file: string; readonly recording: Recording }>,
): Promise<{ readonly file: string; readonly difference: string } | undefined> {
  const here = fieldsOf(request);
  let nearest: { readonly file: string; readonly difference: string; readonly weight: number } | undefined;
  for await (const { file, recording } of recordings) {
    const there = fieldsOf(recording.request);
    const names = [...new Set([...there.keys(), ...here.keys()])].filter(
      name => (there.get(name) ?? null) !== (here.get(name) ?? null),
    );
    const weight = names.reduce((sum, name) => sum + (WEIGHTS[name] ?? 1), 0);
    if (nearest !== undefined && nearest.weight <= weight) continue;
    const texts = names.map(
      name => `${name} (${short(there.get(name))} there, ${short(here.get(name))} here)`,
    );
    nearest = { file, weight, difference: texts.join(', ') };
  }
  return nearest;
}

/** How much a field sets two requests apart; 1 by default. */
const WEIGHTS: Readonly<Record<string, number>> = { 'the prompt version': 4, 'the repetition': 0.5 };

function fieldsOf(request: RecordedRequest): Map<string, string | null> {
  const { promptVersionId, textInputs, runOptions, imageInputs, model, schema, repetition } = request;
  return new Map([
    ['the prompt version', promptVersionId.toLowerCase()],
    ...Object.entries(textInputs).map(([key, value]) => [`the input ${JSON.stringify(key)}`, value] as const),
    ...Object.entries(runOptions).map(
      ([key, value]) => [`the option ${JSON.stringify(key)}`, value] as const,
    ),
    ...imageInputs.map((image, at) => [`image ${at + 1}`, image] as const),
    ['the model', model],
    ['the schema', schema],
    ['the repetition', String(repetition)],
  ]);
}

function short(value: string | null = null): string {
  if (value === null) return 'none';
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value);
}
