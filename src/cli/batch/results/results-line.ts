import { parseJson } from '../../../files/json.ts';
import type { OutputItem } from '../../../wire/index.ts';
import { dollars, type Money, money } from '../../../wire/money.ts';
import { countOf, isObject, listOf } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import { creditsIn, inCredits } from '../../creation/caps.ts';
import type { EarlierRun } from '../../creation/spending.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import type { SourceRow } from '../../inputs/rows/row.ts';
import { errorText, type JobOutcome, secondsOf } from '../../jobs/job.ts';

/** What a line of the results says of a row. */
export interface ResultsLine {
  /** From 1. */
  readonly row: number;
  readonly id: string;
  /** null where no run was created. */
  readonly runId: string | null;
  /** The service's status; `failed` where no run was created. */
  readonly runStatus: string;
  /** With the paths where they were saved. */
  readonly outputs: readonly (OutputItem & { readonly savedTo?: string })[];
  /** null if the service told something else. */
  readonly tokens: number | null;
  /** 0 for a free run; null if they are not known yet. */
  readonly credits: number | null;
  /** In US dollars, 0 for a free run; null if it is not known. */
  readonly cost: number | null;
  /** From the sending of the creation to the end; null if another process sent it, or nothing was sent. */
  readonly seconds: number | null;
  /** Why the row did not succeed; null if it did. */
  readonly error: string | null;
  /** The run was taken from the list of runs, since its creation was not answered. */
  readonly recovered?: true;
  /** Runs of the row before it was run again, which were paid for too. */
  readonly earlierRunIds?: readonly string[];
  readonly inputs?: LineInputs;
}

/** What a row's run was given, as far as it is known. */
export interface LineInputs {
  readonly textInputs: Readonly<Record<string, string>>;
  /** Names of files, or URLs. */
  readonly imageInputs: readonly string[];
}

/** Marks a row that the service's own fault ended, so that trying it again is known to cost maybe twice. */
export const MAY_HAVE_RUN = 'it may have made a run all the same';

/** The line of an outcome that ends its row. */
export function lineOf(
  { row, id, line }: { readonly row: number; readonly id: string; readonly line: number },
  outcome: Extract<JobOutcome, { kind: 'ended' | 'failed' }>,
  budget: Pick<Budget, 'spentOn'>,
): ResultsLine {
  const seconds = secondsOf(outcome.facts);
  if (outcome.kind === 'failed') {
    const { runId = null, error, mayHaveRun } = outcome;
    const text = outcome.text ?? errorText(error, seconds === null ? { line } : undefined);
    const message = mayHaveRun && !text.includes(MAY_HAVE_RUN) ? withMayHaveRun(text) : text;
    const spent = runId === null && !mayHaveRun ? NOTHING : spentOn(runId, budget);
    return { row, id, runId, runStatus: 'failed', outputs: [], tokens: 0, ...spent, seconds, error: message };
  }
  const { runId, runStatus, outputs, tokens, recovered } = outcome.run;
  const error = outcome.error === undefined ? null : errorText(outcome.error);
  const spent = spentOn(runId, budget);
  return {
    row,
    id,
    runId,
    runStatus,
    outputs,
    tokens: typeof tokens === 'number' ? tokens : null,
    ...spent,
    seconds,
    error,
    ...(recovered && { recovered }),
  };
}

/** No run was made. */
const NOTHING = { credits: 0, cost: 0 };

function spentOn(
  runId: string | null,
  budget: Pick<Budget, 'spentOn'>,
): Pick<ResultsLine, 'credits' | 'cost'> {
  const { credits, cost } = budget.spentOn(runId ?? '');
  return {
    credits: credits === undefined ? null : inCredits(credits),
    cost: cost === undefined ? null : dollars(cost),
  };
}

/** What was sent, as `--with-inputs` shows it. */
export function lineInputs({ text, images }: RunRequest): LineInputs {
  return { textInputs: Object.fromEntries(text), imageInputs: images.map(({ name }) => name) };
}

/** What is kept of a line: enough to decide what becomes of its row. */
export type ResultState = ReturnType<typeof resultState>;

/** Reads a line of a results file; undefined if it is not one. */
export function parseResultsLine(text: string): ResultsLine | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { row, id, runId, runStatus, tokens, credits, cost, seconds, error, inputs } = value;
  const isLine = Number.isSafeInteger(row) && typeof id === 'string' && typeof runStatus === 'string';
  if (!isLine || !(typeof runId === 'string' || runId === null || runId === undefined)) return undefined;
  const earlier = listOf(value['earlierRunIds']).filter(one => typeof one === 'string');
  return {
    row: row as number,
    id,
    runId: runId ?? null,
    runStatus,
    outputs: listOf(value['outputs']).filter(isObject) as unknown as OutputItem[],
    tokens: numberOf(tokens),
    credits: numberOf(credits),
    cost: numberOf(cost),
    seconds: numberOf(seconds),
    error: typeof error === 'string' ? error : null,
    ...(earlier.length > 0 && { earlierRunIds: earlier }),
    ...(isObject(inputs) && { inputs: inputs as unknown as LineInputs }),
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** What a result says of its row, whatever it was read from. */
export function resultState(
  line: Pick<ResultsLine, 'row' | 'runStatus' | 'runId' | 'error' | 'outputs' | 'earlierRunIds'> &
    Partial<ResultsLine>,
) {
  const { row, runStatus, error, outputs, earlierRunIds = [] } = line;
  const runId = line.runId ?? undefined;
  return {
    row,
    runStatus,
    runId,
    /** Every run of the row with what it is known to have taken, those before it was run again first. */
    runs: [...earlierRunIds.map((earlier): EarlierRun => ({ runId: earlier })), ...lastRun(line)],
    /** Whether something went wrong. */
    failed: error !== null,
    /** The row failed since the service no longer has its run: the run is asked for again, never created again. */
    isGone: runId !== undefined && outputs.length === 0 && /\((NOT_FOUND|GONE)_ERROR\)$/u.test(error ?? ''),
    /** The service's own fault ended it. */
    mayHaveRun: runId === undefined && (error?.includes(MAY_HAVE_RUN) ?? false),
  };
}

function lastRun({
  runId,
  tokens,
  credits,
  cost,
}: Pick<ResultsLine, 'runId'> & Partial<ResultsLine>): EarlierRun[] {
  if (runId === null) return [];
  const spent = { tokens: countOf(tokens), credits: creditsIn(credits), cost: costIn(cost) };
  return [{ runId, ...spent }];
}

function costIn(value: unknown): Money | undefined {
  return typeof value === 'number' && value >= 0 ? money(value) : undefined;
}

const BEGINNING = '{"row":';

/** Whether a text may be the beginning of a line of results. */
export function isTornLine(text: string): boolean {
  return text.length < BEGINNING.length ? BEGINNING.startsWith(text) : text.startsWith(BEGINNING);
}

/** Where a batch's results go. */
export interface Results {
  /** What they say of rows from before, by the rows' ids. */
  readonly states: ReadonlyMap<string, ResultState>;
  /** Whether there was a file already. */
  readonly existed: boolean;
  /** Known again by its own columns, where they can't be read back by the row's id. */
  recognise?(row: SourceRow): void;
  /** What the batch's journal has to keep of a result, where they can't be read back themselves. */
  keptOf?(line: ResultsLine, row: SourceRow): unknown;
  /** Gives what became of a row. False once nobody reads it any more. */
  give(line: ResultsLine, row: SourceRow): Promise<boolean>;
  /** Leaves exactly one line a row, on disk. @param sorted in the order of the rows */
  finish(sorted: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Says before the code at the end of an error that a run may have been made. */
function withMayHaveRun(text: string): string {
  const at = text.lastIndexOf(' (');
  const code = at < 0 ? '' : text.slice(at + 2);
  const endsInCode = code.indexOf(')') === code.length - 1 && !code.includes('(') && code !== '';
  return endsInCode ? `${text.slice(0, at)}; ${MAY_HAVE_RUN}${text.slice(at)}` : text;
}
