import { RateLimitError } from '../../../client/errors.ts';
import { MAX_ATTEMPTS, retryDelay } from '../../../client/retry.ts';
import type { Run } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { waitForKnownRun } from '../../creation/wait.ts';
import { buildRunBody, type RunBody, type RunRequest } from '../../inputs/request-body.ts';
import type { Results } from '../results/results-file.ts';
import { CREATING, goingLine, stepLine, WAITING } from '../results/results-line.ts';
import type { ReadableRow, RowPlace } from '../rows/row.ts';
import { type PreparedBatch, prepareRow } from './prepare.ts';
import { maySendAgain } from './row-fault.ts';

/** Requests for one creation at most while the service says that there are too many. */
const MOST_REFUSALS = 10;

/** What a row is run with. */
export interface RowWork {
  /** Its signal drops what runs. */
  readonly ctx: Context;
  readonly batch: PreparedBatch;
  readonly results: Results;
  /** Whether no more rows are started. */
  readonly isStopping: () => boolean;
}

/** What is known of a row's run, while it runs and after an error. */
export interface RowFacts {
  runId: string | undefined;
  /** Whether any of the creation was sent that is under way. */
  sent: boolean;
  request: RunRequest | undefined;
}

/** Creates a row's run and waits for its end. `onCreated` is told when the creation is over, but the run is not. */
export async function createRow(
  work: RowWork,
  row: ReadableRow,
  facts: RowFacts,
  onCreated: () => void,
): Promise<Run> {
  const { ctx, batch, results } = work;
  facts.request = await prepareRow(ctx, batch, row);
  const body = announced(buildRunBody(facts.request), async () => {
    await results.keep(stepLine(row, CREATING));
    facts.sent = true;
  });
  const onRunId = async (runId: string): Promise<void> => {
    facts.runId = runId;
    await results.keep(goingLine(row, runId));
    onCreated();
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await createOnce(work, body, onRunId);
    } catch (error) {
      const waitMs = resendDelay(work, facts, error, attempt);
      if (waitMs === undefined) {
        throw error;
      }
      await resumeWaiting(work, row, facts);
      await ctx.clock.sleep(waitMs, ctx.signal);
    }
  }
}

/** A creation that was refused made no run: said at once, so that a crash before the next try leaves no doubt. */
export async function resumeWaiting({ results }: RowWork, row: RowPlace, facts: RowFacts): Promise<void> {
  if (facts.sent) {
    facts.sent = false;
    await results.keep(stepLine(row, WAITING));
  }
}

async function createOnce(
  { ctx, batch }: RowWork,
  body: RunBody,
  onRunId: (runId: string) => Promise<void>,
): Promise<Run> {
  const { timeoutMs } = ctx.globals;
  const created = await createAndWait(ctx, batch.connection, body, {
    retries: 0,
    onRunId,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return created.kind === 'ended' ? created.run : waitForRow({ ctx, batch }, created.runId);
}

/** The body, with what is to be done before its first byte is sent. */
function announced(request: RunBody, announce: () => Promise<void>): RunBody {
  const { body } = request;
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    await announce();
    yield* body.chunks();
  };
  return { ...request, body: { length: body.length, chunks } };
}

/** How long to wait before a creation is sent again; undefined where it may not be. */
function resendDelay(
  { ctx, isStopping }: RowWork,
  { runId }: RowFacts,
  error: unknown,
  attempt: number,
): number | undefined {
  if (runId !== undefined || isStopping() || !maySendAgain(error)) {
    return undefined;
  }
  const isLimited = error instanceof RateLimitError;
  const maxAttempts = isLimited ? MOST_REFUSALS : MAX_ATTEMPTS;
  if (attempt >= maxAttempts) {
    return undefined;
  }
  const retryAfterMs = isLimited ? error.retryAfterMs : undefined;
  const step = Math.min(attempt, MAX_ATTEMPTS);
  return retryDelay({ method: 'POST', attempt: step, maxAttempts, error, retryAfterMs }, () =>
    ctx.clock.random(),
  );
}

/** Waits for the end of a run that is known. */
export async function waitForRow(
  { ctx, batch: { connection } }: Pick<RowWork, 'ctx' | 'batch'>,
  runId: string,
): Promise<Run> {
  return waitForKnownRun(ctx, connection, runId, { idFromService: true });
}
