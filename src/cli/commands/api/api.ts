import { createHash } from 'node:crypto';
import { GatewayTimeoutError } from '../../../client/errors.ts';
import type { RawAnswer } from '../../../client/request-options.ts';
import type { RequestBody } from '../../../client/transport.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import { isUuid } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import type { CreationRequest } from '../../creation/creation-result.ts';
import { printValue } from '../../outputs/print-json.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { type ApiCall, type ApiFlags, buildNextPageCall, prepareApiCall } from './api-call.ts';

/** Calls any endpoint and prints the whole envelope. */
export async function callEndpoint(
  ctx: Context,
  method: string,
  path: string,
  flags: ApiFlags,
): Promise<void> {
  if (ctx.isReplay) {
    throw usageError("api can't be replayed", 'Leave out --replay, and unset PROMPTRUN_REPLAY.');
  }

  const connection = await ctx.connection();
  let call: ApiCall | undefined = await prepareApiCall(
    ctx,
    { method, path },
    flags,
    connection.baseUrl,
  );

  const seenCursors = new Set<string>();
  while (call !== undefined) {
    const creation = findCreationRequest(call);
    const answer: RawAnswer = creation
      ? await createRawRun(ctx, connection, creation)
      : await sendCall(ctx, connection, call);
    const hasReader = await printEnvelope(ctx, answer, { withHead: flags.include === true });

    if (answer.error instanceof GatewayTimeoutError) {
      ctx.io.note(
        `the run continues: ${connection.formatCommand('runs', 'wait', answer.error.runId)}`,
      );
    }

    if (answer.error !== undefined) throw answer.error;

    call =
      hasReader && flags.paginate === true
        ? buildNextPageCall(call, answer.envelope, seenCursors)
        : undefined;
  }
}

/** Prints an answer; returns false once the reader is gone. */
async function printEnvelope(
  ctx: Context,
  answer: RawAnswer,
  { withHead }: { readonly withHead: boolean },
): Promise<boolean> {
  if (withHead && !(await printBody(ctx, formatResponseHead(answer)))) return false;
  if (ctx.globals.query === undefined) return printBody(ctx, answer.text);
  await printValue(ctx, answer.envelope);
  return ctx.io.out('');
}

function printBody(ctx: Context, text: string): Promise<boolean> {
  const printedText = text.endsWith('\n') ? text : `${text}\n`;
  return ctx.io.out(ctx.io.stdout.isTerminal ? escapeControls(printedText) : printedText);
}

function formatResponseHead({ httpStatus, headers }: RawAnswer): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map(line => `${name}: ${line}`),
  );
  return [`HTTP/1.1 ${httpStatus}`, ...lines, '', ''].join('\n');
}

/** Returns the creation request of a call that creates a run; undefined for every other call. */
function findCreationRequest({ method, path, body, query }: ApiCall): CreationRequest | undefined {
  if (method !== 'POST' || withoutTrailingSlashes(path) !== '/runs' || body === undefined) {
    return undefined;
  }

  const promptVersionId = readVersionId(body);
  if (promptVersionId === undefined) return undefined;

  const digest = createHash('sha256').update(body).digest('hex');
  const search = query.toString();

  return {
    promptVersionId,
    digest,
    body: createRequestBody(body),
    ...(search !== '' && { query: search }),
  };
}

function readVersionId(body: Buffer): string | undefined {
  try {
    const { promptVersionId } = (JSON.parse(body.toString('utf8')) ?? {}) as {
      promptVersionId?: unknown;
    };
    return typeof promptVersionId === 'string' && isUuid(promptVersionId)
      ? promptVersionId
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates a run like every creation: journal first, never paid twice. Returns the service's last
 * answer unchanged.
 */
async function createRawRun(
  ctx: Context,
  connection: Connection,
  creation: CreationRequest,
): Promise<RawAnswer> {
  let answer: RawAnswer | undefined;
  try {
    const creationResult = await createAndWait(ctx, connection, creation, {
      wait: false,
      onAnswer: received => {
        answer = received;
      },
    });
    // A recovered creation has no answer of its own, so the run itself replaces it.
    if (creationResult.kind === 'running' && creationResult.recovered) {
      return connection.client.raw('GET', `/runs/${encodeURIComponent(creationResult.runId)}`, {
        signal: ctx.signal,
      });
    }
  } catch (error) {
    if (answer?.error === undefined || error !== answer.error) throw error;
  }

  if (answer === undefined) throw new Error('a creation ended without an answer');
  return answer;
}

function sendCall(
  ctx: Context,
  { client }: Connection,
  { method, path, query, body }: ApiCall,
): Promise<RawAnswer> {
  const search = query.toString();
  return client.raw(method, search === '' ? path : `${path}?${search}`, {
    signal: ctx.signal,
    ...(body !== undefined && { body: createRequestBody(body) }),
  });
}

function createRequestBody(body: Buffer): RequestBody {
  return {
    length: body.length,
    async *chunks() {
      yield body;
    },
  };
}
