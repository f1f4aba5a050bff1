import {
  IDEMPOTENCY_KEY_HEADER,
  parseTraceparent,
  type Run,
  type RunListQuery,
  TRACEPARENT_HEADER,
} from '../../wire/index.ts';
import { invalidRequest, notFound, Refusal } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { ApiError } from '../http/api-error.ts';
import type { HandlerInput } from '../http/route.ts';
import { object, text } from '../http/schema.ts';
import { readListedUsage } from '../runs/costs.ts';
import { answerCreation } from '../runs/create-run.ts';
import { readCreationBody } from '../runs/creation-body.ts';
import { settleDeadCommands } from '../runs/execution/dead-workers.ts';
import { requireRun } from '../runs/find-run.ts';
import type { RunOutcome, StoredOutput, StoredRun } from '../store/runs/run-records.ts';
import { readRunRows, toOutputItems } from './run-rows.ts';
import { createRunBody, runListQuery, runPageSchema, runSchema } from './run-schemas.ts';
import { defineRoute, type Services } from './services.ts';

const IDEMPOTENCY_KEY_DESCRIPTION =
  'Identifies the creation for 24 hours: a repeated request returns the same run, and another body with the same key is refused';

/** Times above this are in milliseconds, which some clients send. */
const MAX_QUERY_SECONDS = 1e11;

export const runRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'List your runs, newest first',
    description:
      'Use the last `runId` of a page as the `startingAfter` of the next, until `hasMore` is false. A page has fewer rows than `limit` if their outputs are large. Send only one cursor, and a `since` less than `until`. With `idempotencyKey`, lists the run that was created with this key in the last 24 hours, if there is one. With `usage=true`, rows have the model, tokens and cost; with `times=true`, the time of the end.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    query: runListQuery,
    data: runPageSchema,
    async handle(services, { caller, query, origin, memory }) {
      const { store } = services;
      // The runs of commands that have died are listed as failed.
      await settleDeadCommands(store);
      const { ids, hasMore } = await findRunIds(services, caller.userId, query);
      const rows = await readRunRows(services, ids, {
        origin,
        withTimes: query.times === 'true',
        onBytes: memory.reserveForAnswer,
      });
      const isCompletePage = rows.length === ids.length;
      if (query.endingBefore !== undefined) rows.reverse();
      const usages =
        query.usage === 'true' ? await readListedUsage(store, caller.userId, ids) : undefined;
      const { idempotencyKey } = query;
      const extendedRows = rows.map(row => ({
        ...row,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(usages && { usage: usages.get(row.runId) }),
      }));

      return { rows: extendedRows, hasMore: hasMore || !isCompletePage };
    },
  }),

  defineRoute({
    method: 'POST',
    path: '/v1/runs',
    allowsCachedCaller: true,
    id: 'createRun',
    tag: 'Runs',
    summary: 'Run a published prompt version',
    description:
      'Waits up to two minutes for the run to end. If it has not ended by then, answers 504 with its `runId`; poll `GET /v1/runs/{runId}`.',
    errors: [
      'FORBIDDEN_ERROR',
      'BAD_REQUEST_ERROR',
      'NOT_FOUND_ERROR',
      'VALIDATION_ERROR',
      'GATEWAY_TIMEOUT_ERROR',
      'INSUFFICIENT_STORAGE_ERROR',
    ],
    headers: object({}, { 'Idempotency-Key': text({ description: IDEMPOTENCY_KEY_DESCRIPTION }) }),
    body: createRunBody,
    data: runSchema,
    async handle(services, { caller, body, computeBodyDigest, origin, headers, memory }) {
      const idempotencyKey = joinHeader(headers[IDEMPOTENCY_KEY_HEADER]);
      const { id, outcome } = await answerCreation(services, caller, body, {
        idempotencyKey,
        computeDigest: computeBodyDigest,
        traceparent: parseTraceparent(headers[TRACEPARENT_HEADER]),
        memory,
      });
      if (!outcome) {
        const message = 'the run has not ended yet; poll it by its runId';
        throw new ApiError('GATEWAY_TIMEOUT_ERROR', message, { data: { runId: id } });
      }

      if (!tryReserveForOutputs(memory, outcome.outputs)) {
        const message =
          'the run has ended, but its outputs do not fit into the memory for answers now; get it by its runId';
        throw new ApiError('GATEWAY_TIMEOUT_ERROR', message, { data: { runId: id } });
      }

      return toRunView({ id, ...outcome }, services, origin);
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/runs/:runId',
    id: 'getRun',
    tag: 'Runs',
    summary: 'Get a run',
    description: 'Use it to poll a run that has not ended, or to read its outputs later.',
    errors: ['NOT_FOUND_ERROR'],
    params: object({ runId: text() }),
    data: runSchema,
    handle: (services, call) => readRunView(services, call, call.params.runId),
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/runs/:runId/request',
    id: 'getRunRequest',
    tag: 'Runs',
    summary: 'Get the request of a run',
    description:
      'Returns the body of the creation, with which the run can be repeated. Pictures are kept for a day.',
    errors: ['NOT_FOUND_ERROR', 'GONE_ERROR'],
    params: object({ runId: text() }),
    data: createRunBody,
    async handle(services, { caller, params }) {
      const { id } = await requireRun(services.store, caller.userId, params.runId);
      return await readCreationBody(services, caller.userId, id);
    },
  }),

  defineRoute({
    method: 'POST',
    path: '/v1/runs/:runId/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'Cancel a run',
    description:
      'The run fails with the error item `cancelled`. A run that has already ended stays unchanged.',
    errors: ['NOT_FOUND_ERROR'],
    params: object({ runId: text() }),
    data: runSchema,
    async handle(services, call) {
      const { id } = await requireRun(services.store, call.caller.userId, call.params.runId);
      await services.runner.cancel(id);
      return await readRunView(services, call, id);
    },
  }),
];

async function readRunView(
  services: Services,
  { caller, origin, memory }: Pick<HandlerInput, 'caller' | 'origin' | 'memory'>,
  runId: string,
): Promise<Run> {
  const run = await requireRun(services.store, caller.userId, runId);
  memory.reserveForAnswer(sumTextBytes(run.outputs));
  return toRunView(run, services, origin);
}

/**
 * Reserves memory for an answer with these outputs; returns false if they don't fit. An error would
 * make the client create the run again.
 */
function tryReserveForOutputs(memory: RequestMemory, outputs: readonly StoredOutput[]): boolean {
  try {
    memory.reserveForAnswer(sumTextBytes(outputs));
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function sumTextBytes(outputs: readonly StoredOutput[]): number {
  return outputs.reduce(
    (sum, output) => sum + ('data' in output ? Buffer.byteLength(output.data) : 0),
    0,
  );
}

type ViewedRun = Pick<StoredRun, 'id' | 'status' | 'tokens' | 'outputs'> &
  Pick<RunOutcome, 'warnings'>;

/** Returns a run in the form of creations and retrievals. */
function toRunView(
  { id, status, tokens, outputs, warnings = [] }: ViewedRun,
  { mediaUrl }: Services,
  origin: string,
): Run {
  return {
    runId: id,
    outputs: toOutputItems(outputs, mediaUrl, origin),
    runStatus: status,
    tokens,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

function joinHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Returns the ids of the runs that a query asks for: the run of a key, or a page of the user's
 * runs.
 */
async function findRunIds(
  services: Services,
  userId: number,
  query: RunListQuery & { limit: number },
): Promise<{ readonly ids: readonly string[]; readonly hasMore: boolean }> {
  const { idempotencyKey } = query;
  if (idempotencyKey === undefined) return await listRuns(services, userId, query);
  const { store, clock } = services;
  const created = await store.runs.findByKey(userId, idempotencyKey, clock.now());
  return { ids: created ? [created.run.id] : [], hasMore: false };
}

/**
 * Returns the ids of a page of a user's runs.
 *
 * @throws {Refusal} for cursors or times that are not valid
 */
async function listRuns(
  { store }: Services,
  userId: number,
  { startingAfter, endingBefore, status, limit, since, until }: RunListQuery & { limit: number },
) {
  const fromMicros = toMicroseconds(since);
  const untilMicros = toMicroseconds(until);

  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalidRequest("startingAfter and endingBefore can't be sent together");
  }

  if (fromMicros !== undefined && untilMicros !== undefined && fromMicros >= untilMicros) {
    throw invalidRequest('since must be less than until');
  }

  const page = await store.runs.readPageIds({
    userId,
    limit,
    status,
    startingAfter: startingAfter?.toLowerCase(),
    endingBefore: endingBefore?.toLowerCase(),
    fromMicros,
    untilMicros,
  });
  if (!page) {
    throw notFound(
      `${startingAfter === undefined ? 'endingBefore' : 'startingAfter'} is not a run of yours`,
    );
  }

  return page;
}

function toMicroseconds(time: number | undefined): number | undefined {
  return time === undefined ? undefined : time * (time > MAX_QUERY_SECONDS ? 1000 : 1_000_000);
}
