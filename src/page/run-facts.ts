import type { OutputItem, Run, RunRow } from '../wire/index.ts';
import { el } from './dom.ts';

/** The error item of a cancelled run. */
const CANCELLED_FAULT = 'cancelled';

const FACT_EXCERPT_LENGTH = 90;

export function createStatusElement(run: Pick<Run, 'runStatus' | 'outputs'>): HTMLElement {
  const shown = isCancelled(run) ? CANCELLED_FAULT : run.runStatus;
  return el('span', { class: shown }, shown);
}

export function isCancelled({ runStatus, outputs }: Pick<Run, 'runStatus' | 'outputs'>): boolean {
  return runStatus === 'failed' && outputs.some(isCancelMark);
}

function isCancelMark({ type, data }: OutputItem): boolean {
  return type === 'error' && data === CANCELLED_FAULT;
}

/** Formats the duration of a run, up to now if it has not ended; '' if unknown. */
export function formatRunDuration(
  { createdAt, endedAt }: Pick<RunRow, 'createdAt' | 'endedAt'>,
  { isOver }: { readonly isOver: boolean },
): string {
  const now = isOver ? Number.NaN : Date.now();
  const end = typeof endedAt === 'string' ? Date.parse(endedAt) : now;
  return formatSpan(Math.max(0, end - Date.parse(createdAt)));
}

function formatSpan(ms: number): string {
  if (Number.isNaN(ms)) return '';
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
  const words = first.data.slice(0, 400).replace(/\s+/gu, ' ').trim();
  return words.length > FACT_EXCERPT_LENGTH
    ? `${words.slice(0, FACT_EXCERPT_LENGTH).trimEnd()}…`
    : words;
}

export function formatRunCredits(credits: number | null): string {
  return credits === null ? 'free' : String(credits);
}
