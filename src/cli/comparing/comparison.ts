import { dollars } from '../../wire/money.ts';
import { countOf, fieldText } from '../core/json-value.ts';
import type { Budget } from '../creation/budget.ts';
import { inCredits } from '../creation/caps.ts';
import { EXIT } from '../exit-codes.ts';
import type { RequestResult } from '../jobs/run-requests.ts';
import type { MediaContent } from '../outputs/media-content.ts';
import type { Variant } from './variants.ts';

/** What one variant made of a row. */
export interface VariantResult extends RequestResult {
  /** Pictures and videos, by their URLs. */
  readonly media: ReadonlyMap<string, MediaContent>;
}

/** A row of the input with what each variant made of it, in the order of the variants. */
export interface ComparedRow {
  readonly row: number;
  readonly id: string;
  /** As the row and the command line give them. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly results: readonly VariantResult[];
}

/**
 * `failed` if a run failed or could not be made; else `not run` if a run was left undone; else `changed` if the outputs
 * are not all equal.
 */
export type Verdict = 'same' | 'changed' | 'failed' | 'not run';

export function verdictOn({ results }: ComparedRow): Verdict {
  const done = results.filter(result => !isNotRun(result));
  if (done.some(({ run }) => run?.runStatus !== 'succeeded')) return 'failed';
  if (done.length < results.length) return 'not run';
  const [first, ...others] = results.map(contentOf);
  return others.every(content => content === first) ? 'same' : 'changed';
}

/** Returns true if the cap, or a fault that every row would meet, left it undone. */
export function isNotRun({ fault, isLeft = false }: RequestResult): boolean {
  return isLeft || fault?.exitCode === EXIT.capReached;
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

/** What the case of a row says of the answer of each variant. */
type Judged = ReadonlyMap<
  number,
  { readonly case: string; readonly passes: readonly (boolean | undefined)[] }
>;

export function passedText(passes: boolean | undefined): 'passed' | 'failed' | undefined {
  return passes === undefined ? undefined : passes ? 'passed' : 'failed';
}

/** A row as `--json` gives it. */
export function rowData(
  row: ComparedRow,
  variants: readonly Variant[],
  budget: Budget,
  judged?: Judged,
): object {
  return {
    row: row.row,
    id: row.id,
    verdict: verdictOn(row),
    inputs: row.inputs,
    ...(judged && { case: judged.get(row.row)?.case ?? null }),
    results: row.results.map(({ run, seconds, fault }, at) => {
      const { credits, cost } = budget.factsOf(run?.runId ?? '');
      return {
        target: variants[at]?.name,
        promptVersionId: variants[at]?.promptVersionId,
        model: variants[at]?.model ?? null,
        runId: run?.runId ?? null,
        runStatus: run?.runStatus ?? null,
        outputs: run?.outputs ?? [],
        tokens: countOf(run?.tokens) ?? null,
        credits: credits === undefined ? null : inCredits(credits),
        cost: cost === undefined ? null : dollars(cost),
        seconds,
        ...(judged && { passed: judged.get(row.row)?.passes[at] ?? null }),
        error: fault === undefined ? null : { status: fault.status, message: fault.message },
      };
    }),
  };
}

/**
 * Number, id, verdict, then of each variant: run id, status, seconds, tokens, credits, and whether it passed if there are
 * expectations.
 */
export function rowCells(row: ComparedRow, budget: Budget, judged?: Judged): string[] {
  return [
    String(row.row),
    row.id,
    verdictOn(row),
    ...row.results.flatMap(({ run, seconds }, at) => {
      const { credits } = budget.factsOf(run?.runId ?? '');
      return [
        run?.runId ?? '-',
        run?.runStatus ?? 'not run',
        seconds.toFixed(3),
        String(run?.tokens ?? '-'),
        credits === undefined ? '-' : String(inCredits(credits)),
        ...(judged ? [passedText(judged.get(row.row)?.passes[at]) ?? '-'] : []),
      ];
    }),
  ];
}
