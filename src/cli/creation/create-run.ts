import { GatewayTimeoutError, ServiceError } from '../../client/errors.ts';
import { answerIsLost } from '../../client/recover.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { messageOf } from '../core/error-utils.ts';
import { configError } from '../errors.ts';
import type { RunBody } from '../inputs/request-body.ts';
import { type Journal, openJournal } from '../settings/journal/journal.ts';
import type { JournalEntry, JournalOutcome } from '../settings/journal/journal-lines.ts';
import { interruptedCreation, timedOutCreation } from './gave-up.ts';
import { CreationInDoubt } from './in-doubt.ts';
import { findRunOf } from './recover-run.ts';

/** A run that exists: with its outputs once it has ended, otherwise only its id. */
export type Created =
  | { readonly kind: 'ended'; readonly run: Run }
  | {
      readonly kind: 'going';
      readonly runId: string;
      readonly journalId: string;
      /** The service has just said that it goes on; false where it may have ended meanwhile. */
      readonly fresh: boolean;
    };

interface Attempt {
  readonly ctx: Context;
  readonly connection: Connection;
  readonly journal: Journal;
  readonly entry: JournalEntry;
  readonly signal: AbortSignal;
}

/**
 * Creates a run, once: journal, `POST`, and where the answer is lost a look for the run it made; never sent again.
 *
 * @throws {CreationInDoubt} where the answer was lost and not exactly one run fits
 * @throws {CliError} INTERRUPTED or WAIT_TIMEOUT once `signal` is aborted, saying whether the run may go on
 */
export async function createRun(
  ctx: Context,
  connection: Connection,
  request: RunBody,
  signal: AbortSignal,
  retries?: number,
): Promise<Created> {
  signal.throwIfAborted();
  const journal = openJournal(ctx.stateDir, ctx.clock);
  const entry = await begin(journal, connection, request);
  const attempt = { ctx, connection, journal, entry, signal };
  let sent = false;
  const onSent = (): void => {
    sent = true;
  };
  const onRetry = (): void => {
    sent = false;
  };
  try {
    const run = await connection.client.runs.create(request, {
      signal,
      onSent,
      onRetry,
      ...(retries !== undefined && { retries }),
    });
    return await answered(attempt, run);
  } catch (error) {
    return afterFault(attempt, error, sent);
  }
}

async function begin(journal: Journal, { service }: Connection, request: RunBody): Promise<JournalEntry> {
  try {
    const { promptVersionId, digest: inputsDigest } = request;
    return await journal.begin({ service, promptVersionId, inputsDigest });
  } catch (error) {
    throw configError(
      `the journal ${journal.file} can't be written: ${messageOf(error)}`,
      'Nothing was started. Make the file writable, or name another directory in PROMPTRUN_STATE_DIR.',
    );
  }
}

async function answered(attempt: Attempt, run: Run): Promise<Created> {
  const { runId, runStatus } = run;
  const ended = runStatus === 'succeeded' || runStatus === 'failed';
  await note(attempt, { outcome: ended ? 'ended' : 'created', runId, runStatus });
  return ended ? { kind: 'ended', run } : { kind: 'going', runId, journalId: attempt.entry.id, fresh: true };
}

async function afterFault(attempt: Attempt, error: unknown, sent: boolean): Promise<Created> {
  if (error instanceof GatewayTimeoutError) {
    await note(attempt, { outcome: 'created', runId: error.runId });
    return { kind: 'going', runId: error.runId, journalId: attempt.entry.id, fresh: true };
  }
  if (attempt.signal.aborted) return gaveUp(attempt, sent);
  if (answerIsLost(error)) return recovered(attempt, error);
  await note(attempt, { outcome: sent && isServerFault(error) ? 'lost' : 'refused' });
  throw error;
}

async function gaveUp(attempt: Attempt, sent: boolean): Promise<never> {
  await note(attempt, { outcome: sent ? 'interrupted' : 'refused' });
  const { ctx, connection, journal, entry, signal } = attempt;
  if (ctx.signal.aborted) throw interruptedCreation(ctx.signal.reason, sent, connection.embedded);
  throw await timedOutCreation(signal.reason, sent, async limit => {
    const { found } = await findRunOf(connection, journal, entry, AbortSignal.any([ctx.signal, limit]));
    if (found !== undefined) await note(attempt, { outcome: 'created', runId: found.runId });
    return found?.runId;
  });
}

async function recovered(attempt: Attempt, error: unknown): Promise<Created> {
  const { ctx, connection, journal, entry, signal } = attempt;
  ctx.io.note('note: the answer to the creation was lost; looking for the run it may have made');
  const looked = await findRunOf(connection, journal, entry, signal).catch(() => undefined);
  if (signal.aborted) return gaveUp(attempt, true);
  const { found, candidates } = looked ?? { found: undefined, candidates: [] };
  if (found === undefined) {
    await note(attempt, { outcome: 'lost' });
    throw new CreationInDoubt(error, candidates, entry.id);
  }
  ctx.io.note(`note: going on with run ${found.runId}`);
  await note(attempt, { outcome: 'created', runId: found.runId });
  return { kind: 'going', runId: found.runId, journalId: entry.id, fresh: false };
}

/** A journal that can't be written any more must not cost the result. */
async function note({ ctx, journal, entry }: Attempt, outcome: JournalOutcome): Promise<void> {
  await journal.outcome(entry.id, outcome).catch((error: unknown) => {
    ctx.io.note(`note: the journal ${journal.file} can't be written: ${messageOf(error)}`);
  });
}

function isServerFault(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.httpStatus >= 500;
}
