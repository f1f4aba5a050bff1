import type { ChalkInstance } from 'chalk';
import type { OutputItem, Run } from '../../../wire/index.ts';
import type { Connection } from '../../context.ts';
import type { Failure } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import { visible } from '../../terminal/sanitise.ts';

/** What one variant made of a row. */
export interface VariantResult {
  /** undefined where nothing could be run. */
  readonly run: Run | undefined;
  readonly seconds: number;
  /** As the service's list says; null where the run was free or is not known. */
  readonly credits: number | null;
  /** SHA-256 of each picture or video, by its URL. */
  readonly media: ReadonlyMap<string, MediaContent>;
  readonly fault: Failure | undefined;
}

export interface MediaContent {
  /** Hexadecimal. */
  readonly sha256: string;
  /** For a page; undefined where none is made, or it is too large for one. */
  readonly dataUrl?: string;
}

/** A row of the input with what each variant made of it, in the order of the variants. */
export interface ComparedRow {
  readonly row: number;
  readonly id: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly results: readonly VariantResult[];
}

/** `failed` where a run failed or could not be made; else `changed` where the outputs are not all equal. */
export type Verdict = 'same' | 'changed' | 'failed';

export function verdictOn({ results }: ComparedRow): Verdict {
  if (results.some(({ run }) => run?.runStatus !== 'succeeded')) {
    return 'failed';
  }
  const [first, ...others] = results.map(contentOf);
  return others.every(content => content === first) ? 'same' : 'changed';
}

/** Pictures are compared by their bytes: each run has URLs of its own. */
function contentOf({ run, media }: VariantResult): string {
  return JSON.stringify(
    run?.outputs.map(({ type, data }) => {
      const content = media.get(fieldText(data));
      return [type, content === undefined ? data : content.sha256];
    }),
  );
}

/** The URLs of pictures and videos among outputs. */
export function mediaUrls(outputs: readonly OutputItem[]): string[] {
  return outputs
    .filter(({ type }) => type === 'image' || type === 'video')
    .flatMap(({ data }) => (typeof data === 'string' ? [data] : []));
}

/** The text of a variant's answer, or why there is none. */
export function shownText({ run, fault }: VariantResult): string {
  if (fault !== undefined) {
    return `${fault.message} (${fault.status})`;
  }
  return (run?.outputs ?? [])
    .filter(({ type }) => type === 'text' || type === 'error')
    .map(({ type, data }) => (type === 'error' ? `error: ${fieldText(data)}` : fieldText(data)))
    .join('\n');
}

/** Pages of the list that are read at most. */
const MOST_PAGES = 20;

/** The rows with what each run cost: only the list of runs says that. What is not found there stays unknown. */
export async function withCredits(
  { client }: Connection,
  rows: readonly ComparedRow[],
  signal: AbortSignal,
): Promise<ComparedRow[]> {
  const wanted = new Set(rows.flatMap(({ results }) => results.flatMap(({ run }) => run?.runId ?? [])));
  const credits = new Map<string, number | null>();
  try {
    let startingAfter: string | undefined;
    for (let page = 0; page < MOST_PAGES && credits.size < wanted.size; page += 1) {
      const query = { limit: 50, ...(startingAfter !== undefined && { startingAfter }) };
      const { rows: listed, hasMore } = await client.runs.list(query, { signal });
      for (const { runId, credits: cost } of listed) {
        if (wanted.has(runId)) {
          credits.set(runId, cost);
        }
      }
      startingAfter = listed.at(-1)?.runId;
      if (!hasMore || startingAfter === undefined) {
        break;
      }
    }
  } catch {
    // A comparison is complete without them.
  }
  return rows.map(row => ({
    ...row,
    results: row.results.map(result => ({
      ...result,
      credits: credits.get(result.run?.runId ?? '') ?? null,
    })),
  }));
}

/** A piece of two texts: in both, only in the first, or only in the second. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Longer texts are compared by lines: by words it would take too long. */
const MOST_CHARACTERS = 50_000;

/** The differences of two texts, word by word. */
export async function wordDiff(one: string, other: string): Promise<DiffPart[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const isLong = one.length + other.length > MOST_CHARACTERS;
  const parts = isLong ? diffLines(one, other) : diffWordsWithSpace(one, other);
  return parts.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}

/** Without colours the marks of `git diff --word-diff` show what was removed and added. */
export function markedPart({ kind, text }: DiffPart, paint: ChalkInstance): string {
  const safe = visible(text);
  if (kind === 'same') {
    return safe;
  }
  if (paint.level === 0) {
    return kind === 'removed' ? `[-${safe}-]` : `{+${safe}+}`;
  }
  return kind === 'removed' ? paint.red.strikethrough(safe) : paint.green(safe);
}
