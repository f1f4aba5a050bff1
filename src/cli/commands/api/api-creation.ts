import { createHash } from 'node:crypto';
import { ProtocolError } from '../../../client/errors.ts';
import { answerIsLost } from '../../../client/recover.ts';
import type { RawAnswer } from '../../../client/request.ts';
import { isUuid } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { interruptedCreation } from '../../creation/gave-up.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import { findRunOf } from '../../creation/recover-run.ts';
import { type Journal, openJournal } from '../../settings/journal/journal.ts';
import type { JournalEntry, JournalOutcome } from '../../settings/journal/journal-lines.ts';
import type { ApiCall } from './api-call.ts';

/** Sends a call. One that creates a run is written to the journal first and, like any creation, never sent twice. */
export async function sendCreation(ctx: Context, connection: Connection, call: ApiCall): Promise<RawAnswer> {
  const promptVersionId = createdVersion(call);
  if (promptVersionId === undefined) return send(ctx, connection, call);
  const journal = openJournal(ctx.stateDir, ctx.clock);
  const inputsDigest = createHash('sha256')
    .update(call.body ?? '')
    .digest('hex');
  const entry = await journal.begin({ service: connection.service, promptVersionId, inputsDigest });
  let sent = false;
  const onSent = (): void => {
    sent = true;
  };
  try {
    const answer = await send(ctx, connection, call, onSent);
    await journal.outcome(entry.id, outcomeOf(answer));
    return answer;
  } catch (error) {
    throw await creationFault(ctx, connection, { journal, entry, error, sent });
  }
}

/** The version a call makes a run of; undefined for every other call. */
function createdVersion({ method, path, body }: ApiCall): string | undefined {
  if (method !== 'POST' || path.replace(/\/+$/u, '') !== '/runs' || body === undefined) return undefined;
  try {
    const { promptVersionId } = (JSON.parse(body.toString('utf8')) ?? {}) as { promptVersionId?: unknown };
    return typeof promptVersionId === 'string' && isUuid(promptVersionId) ? promptVersionId : undefined;
  } catch {
    return undefined;
  }
}

function send(
  ctx: Context,
  { client }: Connection,
  { method, path, query, body }: ApiCall,
  onSent?: () => void,
): Promise<RawAnswer> {
  const search = query.toString();
  return client.raw(method, search === '' ? path : `${path}?${search}`, {
    signal: ctx.signal,
    ...(onSent !== undefined && { onSent }),
    ...(body !== undefined && { body: { length: body.length, chunks: () => piecesOf(body) } }),
  });
}

async function* piecesOf(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

/** A 504 names the run that goes on in its data, as a success does. */
function outcomeOf({ httpStatus, envelope }: RawAnswer): JournalOutcome {
  const { runId, runStatus } = (envelope.data ?? {}) as { runId?: unknown; runStatus?: unknown };
  if (typeof runId !== 'string') return { outcome: httpStatus >= 500 ? 'lost' : 'refused' };
  return runStatus === 'succeeded' || runStatus === 'failed'
    ? { outcome: 'ended', runId, runStatus }
    : { outcome: 'created', runId };
}

interface Fault {
  readonly journal: Journal;
  readonly entry: JournalEntry;
  readonly error: unknown;
  readonly sent: boolean;
}

/** What to say of a creation that got no answer of the service: the runs it may have made are named. */
async function creationFault(ctx: Context, connection: Connection, fault: Fault): Promise<unknown> {
  const { journal, entry, error, sent } = fault;
  if (ctx.signal.aborted) {
    await journal.outcome(entry.id, { outcome: sent ? 'interrupted' : 'refused' });
    return interruptedCreation(ctx.signal.reason, sent, connection.embedded);
  }
  if (!answerIsLost(error)) {
    await journal.outcome(entry.id, { outcome: sent && error instanceof ProtocolError ? 'lost' : 'refused' });
    return error;
  }
  const { found, candidates } = await findRunOf(connection, journal, entry, ctx.signal).catch(() => ({
    found: undefined,
    candidates: [],
  }));
  await journal.outcome(
    entry.id,
    found === undefined ? { outcome: 'lost' } : { outcome: 'created', runId: found.runId },
  );
  return new CreationInDoubt(error, found === undefined ? candidates : [found]);
}
