import { UnauthorizedError } from '../../../client/errors.ts';
import type { RunRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { failureOf } from '../../core/failure.ts';
import { describeCandidates } from '../../creation/in-doubt.ts';
import { EXIT } from '../../exit-codes.ts';
import { wantsJson } from '../../outputs/json.ts';
import { reportFailure } from '../../terminal/report-failure.ts';
import type { RowPlace } from '../rows/row.ts';
import { isAtCap, isEverybodys, isLongPause, type JobOutcome } from '../run/job.ts';
import { NoMoreWanted, type Stop } from '../run/stop.ts';
import type { Tally } from './tally.ts';

/** Rows in a row that meet a fault outside of them before no more are started. */
const MOST_IN_A_ROW = 10;

export interface ReporterOptions {
  /** The name of the rows' source. */
  readonly source: string;
  readonly maxFailures: number;
}

/** Reports each row that did not succeed, and when there is no use in starting more. */
export class Reporter {
  readonly #ctx: Context;
  readonly #options: ReporterOptions;
  readonly #tally: Tally;
  readonly #stop: Stop;
  #everybodys = 0;

  constructor(ctx: Context, options: ReporterOptions, { tally, stop }: { tally: Tally; stop: Stop }) {
    this.#ctx = ctx;
    this.#options = options;
    this.#tally = tally;
    this.#stop = stop;
  }

  rowEnded(row: RowPlace, outcome: JobOutcome): void {
    const error = outcome.kind === 'dropped' ? undefined : outcome.error;
    if (isAtCap(error) || error instanceof NoMoreWanted) return this.#stop.noMoreRows();
    this.#everybodys = isEverybodys(error) ? this.#everybodys + 1 : 0;
    if (error !== undefined) {
      reportRow(this.#ctx, this.#options.source, row, { error, candidates: candidatesOf(outcome) });
      this.#stopIfUseless(error);
    }
  }

  #stopIfUseless(error: unknown): void {
    const { maxFailures } = this.#options;
    if (error instanceof UnauthorizedError) {
      this.#stop.noMoreRows('the key is not accepted');
    } else if (isLongPause(error)) {
      this.#stop.noMoreRows('the service asks to come back later');
    } else if (this.#everybodys >= MOST_IN_A_ROW) {
      this.#stop.noMoreRows(`${this.#everybodys} rows in a row met a fault that is not theirs`);
    } else if (this.#tally.failedNow >= maxFailures) {
      this.#stop.noMoreRows(`${counted(maxFailures, 'row')} failed`);
    }
  }
}

function candidatesOf(outcome: JobOutcome): readonly RunRow[] {
  return outcome.kind === 'in doubt' ? outcome.candidates : [];
}

function idOf({ runId }: RunRow): string {
  return runId;
}

/** One line on what is wrong with a row, and where the row stands; then the runs that may be its own. */
export function reportRow(
  ctx: Context,
  source: string,
  { row, line, id }: RowPlace,
  { error, candidates = [] }: { readonly error: unknown; readonly candidates?: readonly RunRow[] },
): void {
  const failure = failureOf(error);
  reportFailure(
    ctx.io,
    {
      status: failure.status,
      message: `${source} line ${line} (row ${row}): ${failure.message}`,
      data: { row, line, id, ...(candidates.length > 0 && { candidates: candidates.map(idOf) }) },
      exitCode: EXIT.runFailed,
      hints: [...failure.hints, ...describeCandidates(ctx, candidates)],
    },
    { json: wantsJson(ctx), debug: false, error, paint: ctx.io.paintErr },
  );
}
