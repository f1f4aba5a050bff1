import { parseJson } from '../../../files/formats/json.ts';
import { isJsonObject, readListAt } from '../../../utils/bounded-json.ts';
import type { OutputItem } from '../../../wire/index.ts';
import { toDollars } from '../../../wire/money.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { fromCredits } from '../../creation/spending/credits.ts';
import { getFailedRunTokens } from '../../creation/spending/totals.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { computeRunSeconds, type JobOutcome } from '../../jobs/job.ts';
import { formatError } from '../../jobs/job-errors.ts';

export interface ResultsLine {
  /** The row's number, from 1. */
  readonly row: number;
  readonly id: string;
  /** null if no run was created. */
  readonly runId: string | null;
  /** The service's status; `failed` if no run was created. */
  readonly runStatus: string;
  /** The outputs, with the paths of saved files. */
  readonly outputs: readonly (OutputItem & { readonly savedTo?: string })[];
  /** null if the service's answer has no count. */
  readonly tokens: number | null;
  /** 0 for a free run; null while unknown. */
  readonly credits: number | null;
  /** US dollars, 0 for a free run; null if unknown. */
  readonly cost: number | null;
  /**
   * The time from the creation to the end; null if another process sent the creation, or nobody
   * did.
   */
  readonly seconds: number | null;
  /** The reason if the row did not succeed; null if it did. */
  readonly error: string | null;
  /** True if the run was found in the list of runs, because its creation was not answered. */
  readonly recovered?: true;
  /** Earlier runs of a row that was run again, which were paid for too. */
  readonly earlierRunIds?: readonly string[];
  readonly inputs?: LineInputs;
}

/** The inputs of a row's run that are known. */
export interface LineInputs {
  readonly textInputs: Readonly<Record<string, string>>;
  /** File names or URLs. */
  readonly imageInputs: readonly string[];
}

/** Marks a row that ended in the service's own fault, because running it again may pay twice. */
export const MAY_HAVE_RUN = 'it may have created a run anyway';

const RESULTS_LINE_BEGINNING = '{"row":';

/** Matches the code of an error, such as ` (SERVER_ERROR)`. */
const ERROR_CODE_AT_END = / \([^()]*\)$/u;

/** The amounts of a row without a run. */
const NO_RUN_AMOUNTS = { credits: 0, cost: 0 };

type RowName = Pick<ResultsLine, 'row' | 'id'> & { readonly line: number };

/** Returns the line for an outcome that ends its row. */
export function buildResultsLine(
  row: RowName,
  outcome: Extract<JobOutcome, { kind: 'ended' | 'failed' }>,
  budget: Pick<Budget, 'getRunSpend'>,
): ResultsLine {
  return outcome.kind === 'failed'
    ? buildFailedRowLine(row, outcome, budget)
    : buildEndedRunLine(row, outcome, budget);
}

/** Returns the line of a row that failed without an answer. */
function buildFailedRowLine(
  { row, id, line }: RowName,
  outcome: Extract<JobOutcome, { kind: 'failed' }>,
  budget: Pick<Budget, 'getRunSpend'>,
): ResultsLine {
  const { runId = null, details, error, errorText, mayHaveRun } = outcome;
  const seconds = computeRunSeconds(details);
  const message = errorText ?? formatError(error, seconds === null ? { line } : undefined);
  const amounts = runId === null && !mayHaveRun ? NO_RUN_AMOUNTS : getSpentAmounts(runId, budget);

  return {
    row,
    id,
    runId,
    runStatus: 'failed',
    outputs: [],
    tokens: 0,
    ...amounts,
    seconds,
    error: mayHaveRun && !message.includes(MAY_HAVE_RUN) ? withMayHaveRun(message) : message,
  };
}

function buildEndedRunLine(
  { row, id }: RowName,
  { run, details, error }: Extract<JobOutcome, { kind: 'ended' }>,
  budget: Pick<Budget, 'getRunSpend'>,
): ResultsLine {
  const { runId, runStatus, outputs, recovered } = run;
  const tokens = getFailedRunTokens(run, budget.getRunSpend(runId)) ?? toNumberOrNull(run.tokens);
  return {
    row,
    id,
    runId,
    runStatus,
    outputs,
    tokens,
    ...getSpentAmounts(runId, budget),
    seconds: computeRunSeconds(details),
    error: error === undefined ? null : formatError(error),
    ...(recovered && { recovered }),
  };
}

function getSpentAmounts(
  runId: string | null,
  budget: Pick<Budget, 'getRunSpend'>,
): Pick<ResultsLine, 'credits' | 'cost'> {
  const { credits, cost } = budget.getRunSpend(runId ?? '');
  return {
    credits: credits === undefined ? null : fromCredits(credits),
    cost: cost === undefined ? null : toDollars(cost),
  };
}

export function toLineInputs({ text, images }: RunRequest): LineInputs {
  return { textInputs: Object.fromEntries(text), imageInputs: images.map(({ name }) => name) };
}

/** Parses a line of a results file. Returns undefined if it is not a result. */
export function parseResultsLine(text: string): ResultsLine | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;

  const { row, id, runId, runStatus, tokens, credits, cost, seconds, error, inputs } = value;
  if (!Number.isSafeInteger(row) || typeof id !== 'string') return undefined;
  if (typeof runStatus !== 'string') return undefined;
  if (typeof runId !== 'string' && runId !== null && runId !== undefined) return undefined;

  const earlierRunIds = readListAt(value['earlierRunIds']).filter(
    runId => typeof runId === 'string',
  );
  return {
    row: row as number,
    id,
    runId: runId ?? null,
    runStatus,
    outputs: readListAt(value['outputs']).filter(isJsonObject) as unknown as OutputItem[],
    tokens: toNumberOrNull(tokens),
    credits: toNumberOrNull(credits),
    cost: toNumberOrNull(cost),
    seconds: toNumberOrNull(seconds),
    error: typeof error === 'string' ? error : null,
    ...(earlierRunIds.length > 0 && { earlierRunIds }),
    ...(isJsonObject(inputs) && { inputs: inputs as unknown as LineInputs }),
  };
}

function toNumberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns true if a text may be a result's line, or the beginning of one. */
export function mayBeResultsLine(text: string): boolean {
  return text.length < RESULTS_LINE_BEGINNING.length
    ? RESULTS_LINE_BEGINNING.startsWith(text)
    : text.startsWith(RESULTS_LINE_BEGINNING);
}

/** Adds `MAY_HAVE_RUN` to an error: before the code at its end, or at the end if it has none. */
function withMayHaveRun(text: string): string {
  const codeStart = text.search(ERROR_CODE_AT_END);
  const messageEnd = codeStart === -1 ? text.length : codeStart;
  return `${text.slice(0, messageEnd)}; ${MAY_HAVE_RUN}${text.slice(messageEnd)}`;
}
