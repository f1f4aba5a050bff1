import type { ModelEntry } from './entry.ts';

/** A model that is to be shut down soon, or was. */
export interface Shutdown {
  readonly model: string;
  /** As 2026-11-30. */
  readonly date: string;
  /** Whether that day has come. */
  readonly isPast: boolean;
}

const SOON_MS = 90 * 24 * 60 * 60_000;

/** The shutdown of a model, if it is known and at most 90 days away. */
export function shutdownOf({ model, shutdownDate: date }: ModelEntry, nowMs: number): Shutdown | undefined {
  const left = date === undefined ? Number.NaN : Date.parse(date) - nowMs;
  return date !== undefined && left <= SOON_MS ? { model, date, isPast: left <= 0 } : undefined;
}

/** The shutdown of a model in words. */
export function shutdownNote({ model, date, isPast }: Shutdown): string {
  return `the model ${model} ${isPast ? 'was' : 'is to be'} shut down on ${date}`;
}
