import { toCount } from '../../../files/formats/json-fields.ts';
import { type Money, toMoney } from '../../../wire/money.ts';
import { parseCredits } from '../../creation/spending/credits.ts';
import type { EarlierRun } from '../../creation/spending/spending.ts';
import { MAY_HAVE_RUN, type ResultsLine } from './results-line.ts';

/** Matches the error of a run that the service no longer has. */
const GONE_ERROR = /\((?:NOT_FOUND|GONE)_ERROR\)$/u;

/** The parts of a line that decide what happens to its row on resumption. */
export type ResultState = ReturnType<typeof toResultState>;

export function toResultState(
  line: Pick<ResultsLine, 'row' | 'runStatus' | 'runId' | 'error' | 'outputs' | 'earlierRunIds'> &
    Partial<ResultsLine>,
) {
  const { row, runStatus, error, outputs, earlierRunIds = [] } = line;
  const runId = line.runId ?? undefined;
  return {
    row,
    runStatus,
    runId,
    /** All runs of the row with their known amounts, earliest first. */
    runs: [
      ...earlierRunIds.map((earlier): EarlierRun => ({ runId: earlier })),
      ...toRunAmounts(line),
    ],
    /** True if the row did not succeed. */
    hasFailed: error !== null,
    /** True if the service no longer had the run: it is polled again, never created again. */
    isGone: runId !== undefined && outputs.length === 0 && GONE_ERROR.test(error ?? ''),
    /** True if it failed with no known run, and the service may have created one. */
    mayHaveRun: runId === undefined && (error?.includes(MAY_HAVE_RUN) ?? false),
  };
}

/** Returns true if a row failed before a run was created for it. */
export function madeNoRun({ runId, runStatus, mayHaveRun }: ResultState): boolean {
  return runId === undefined && runStatus === 'failed' && !mayHaveRun;
}

function toRunAmounts({
  runId,
  tokens,
  credits,
  cost,
}: Pick<ResultsLine, 'runId'> & Partial<ResultsLine>): EarlierRun[] {
  if (runId === null) return [];
  const spent = { tokens: toCount(tokens), credits: parseCredits(credits), cost: readCost(cost) };
  return [{ runId, ...spent }];
}

function readCost(value: unknown): Money | undefined {
  return typeof value === 'number' && value >= 0 ? toMoney(value) : undefined;
}
