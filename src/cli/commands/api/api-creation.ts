import { createHash } from 'node:crypto';
import type { RawAnswer } from '../../../client/request.ts';
import type { RequestBody } from '../../../client/transport.ts';
import { isUuid } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import type { CreationRequest } from '../../creation/send-creation.ts';
import type { ApiCall } from './api-call.ts';

/** Sends a call. One that creates a run is sent as every creation is: written to the journal first, never paid twice. */
export async function sendCall(ctx: Context, connection: Connection, call: ApiCall): Promise<RawAnswer> {
  const creation = creationOf(call);
  return creation === undefined ? send(ctx, connection, call) : create(ctx, connection, creation);
}

/** What a call creates a run of; undefined for every other call. */
function creationOf({ method, path, body, query }: ApiCall): CreationRequest | undefined {
  if (method !== 'POST' || path.replace(/(?<!\/)\/+$/u, '') !== '/runs' || body === undefined)
    return undefined;
  const promptVersionId = versionIn(body);
  if (promptVersionId === undefined) return undefined;
  const digest = createHash('sha256').update(body).digest('hex');
  const search = query.toString();
  return { promptVersionId, digest, body: requestBody(body), ...(search !== '' && { query: search }) };
}

function versionIn(body: Buffer): string | undefined {
  try {
    const { promptVersionId } = (JSON.parse(body.toString('utf8')) ?? {}) as { promptVersionId?: unknown };
    return typeof promptVersionId === 'string' && isUuid(promptVersionId) ? promptVersionId : undefined;
  } catch {
    return undefined;
  }
}

/** Gives the service's last answer as it came; errors of the service are answers. */
async function create(ctx: Context, connection: Connection, creation: CreationRequest): Promise<RawAnswer> {
  let answer: RawAnswer | undefined;
  const { timeoutMs } = ctx.globals;
  try {
    const created = await createAndWait(ctx, connection, creation, {
      wait: false,
      timeoutMs,
      onAnswer: came => {
        answer = came;
      },
    });
    // One that was found in the list has no answer of its own: the run's stands for it.
    if (created.kind === 'going' && created.recovered) {
      return connection.client.raw('GET', `/runs/${encodeURIComponent(created.runId)}`, {
        signal: ctx.signal,
      });
    }
  } catch (error) {
    if (answer?.error === undefined || error !== answer.error) throw error;
  }
  if (answer === undefined) throw new Error('a creation ended without an answer');
  return answer;
}

function send(
  ctx: Context,
  { client }: Connection,
  { method, path, query, body }: ApiCall,
): Promise<RawAnswer> {
  const search = query.toString();
  return client.raw(method, search === '' ? path : `${path}?${search}`, {
    signal: ctx.signal,
    ...(body !== undefined && { body: requestBody(body) }),
  });
}

function requestBody(body: Buffer): RequestBody {
  return {
    length: body.length,
    async *chunks() {
      yield body;
    },
  };
}
