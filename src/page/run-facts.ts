import type { OutputItem, Run, RunRow } from '../wire/index.ts';
import { el } from './dom.ts';

/** The error item of a cancelled run. */
const CANCELLED_ERROR = 'cancelled';

const FACT_EXCERPT_LENGTH = 90;

/** Maximum length of the text in which the words of an excerpt are looked for. */
const MAX_SCANNED_LENGTH = 400;

export function createStatusElement(run: Pick<Run, 'runStatus' | 'outputs'>): HTMLElement {
  const label = isCancelled(run) ? CANCELLED_ERROR : run.runStatus;
  return el('span', { class: label }, label);
}

export function isCancelled({ runStatus, outputs }: Pick<Run, 'runStatus' | 'outputs'>): boolean {
  return runStatus === 'failed' && outputs.some(isCancellation);
}

function isCancellation({ type, data }: OutputItem): boolean {
  return type === 'error' && data === CANCELLED_ERROR;
}

/** Formats the duration of a run, up to now if it has not ended; '' if unknown. */
export function formatRunDuration(
  { createdAt, endedAt }: Pick<RunRow, 'createdAt' | 'endedAt'>,
  { isOver }: { readonly isOver: boolean },
): string {
  const createdMs = Date.parse(createdAt);
  if (typeof endedAt === 'string') return formatSpan(Date.parse(endedAt) - createdMs);
  return isOver ? '' : formatSpan(Date.now() - createdMs);
}

/** Formats a duration; '' for one of an invalid time. A clock that is behind gives 0. */
function formatSpan(durationMs: number): string {
  if (Number.isNaN(durationMs)) return '';
  const ms = Math.max(0, durationMs);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;

  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;

  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns the first words of a run's outputs. */
export function formatFirstWords(outputs: readonly OutputItem[]): string {
  const [first] = outputs;
  if (first === undefined) return '';
  if (first.type === 'image' || first.type === 'video') return `(${first.type})`;
  const text = first.data.slice(0, MAX_SCANNED_LENGTH).replace(/\s+/gu, ' ').trim();
  return text.length > FACT_EXCERPT_LENGTH
    ? `${text.slice(0, FACT_EXCERPT_LENGTH).trimEnd()}…`
    : text;
}

export function formatRunCredits(credits: number | null): string {
  return credits === null ? 'free' : String(credits);
}
