import type { ChalkInstance } from 'chalk';
import type { Run } from '../../../wire/index.ts';
import type { Money } from '../../../wire/money.ts';
import type { Connection } from '../../context.ts';
import type { Failure } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import type { DiffPart } from '../../outputs/differences.ts';
import type { MediaContent } from '../../outputs/media-content.ts';
import { visible } from '../../terminal/sanitise.ts';

/** What one variant made of a row. */
export interface VariantResult {
  /** undefined where nothing could be run. */
  readonly run: Run | undefined;
  readonly seconds: number;
  /** As the service's list says; null where the run was free or is not known. */
  readonly credits: number | null;
  /** Of this machine's own service; null if it is not known. */
  readonly cost: Money | null;
  /** SHA-256 of each picture or video, by its URL. */
  readonly media: ReadonlyMap<string, MediaContent>;
  readonly fault: Failure | undefined;
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
  { client, costs }: Connection,
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
  const money = await costs?.of([...wanted]);
  return rows.map(row => ({
    ...row,
    results: row.results.map(result => ({
      ...result,
      credits: credits.get(result.run?.runId ?? '') ?? null,
      cost: money?.get(result.run?.runId ?? '')?.cost ?? null,
    })),
  }));
}

/** Without colours the marks of `git diff --word-diff` show what was removed and added. */
export function markedPart({ kind, text }: DiffPart, paint: ChalkInstance): string {
  const safe = visible(text);
  if (kind === 'same' || kind === 'note') return safe;
  if (paint.level === 0) {
    return kind === 'removed' ? `[-${safe}-]` : `{+${safe}+}`;
  }
  return kind === 'removed' ? paint.red.strikethrough(safe) : paint.green(safe);
}
