import {
  IDEMPOTENCY_KEY_HEADER,
  type Run,
  type RunListQuery,
  TRACEPARENT_HEADER,
  traceparentOf,
} from '../../wire/index.ts';
import { invalid, notFound, Refusal } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { ApiError } from '../http/api-error.ts';
import type { Call } from '../http/route.ts';
import { object, text } from '../http/schema.ts';
import { usageOfRuns } from '../runs/costs.ts';
import { createRun } from '../runs/create-run.ts';
import { creationOf, requireRun, settleDeadCommands } from '../runs/current-runs.ts';
import { outputItems, runRows } from '../runs/run-rows.ts';
import type { Outcome, StoredOutput, StoredRun } from '../store/run-records.ts';
import { route, type Services } from './route.ts';
import { createRunBody, runListQuery, runPageSchema, runSchema } from './run-schemas.ts';

const IDEMPOTENCY_KEY =
  'Names the creation for 24 hours: the same one sent again gives the one run, another body with it is refused';

/** Values of a time above this are milliseconds, which some clients send. */
const MOST_SECONDS = 1e11;

export const runRoutes = [
  route({
    method: 'GET',
    path: '/v1/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'Runs of the caller, newest first',
    description:
      'Pages by cursor: send the last `runId` of a page as `startingAfter` until `hasMore` is false. A page has fewer rows than `limit` where their outputs are large. Only one cursor may be sent, and `since` must be less than `until`. With `idempotencyKey`, the run that a creation with this key made within 24 hours, if there is one. With `usage`, each row tells its model, tokens and cost; with `times`, when it ended.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    query: runListQuery,
    data: runPageSchema,
    async handle(services, { caller, query, origin, memory }) {
      await settleDeadCommands(services.store);
      const { idempotencyKey } = query;
      const { ids, hasMore } =
        idempotencyKey === undefined
          ? await listRuns(services, caller.userId, query)
          : { ids: await createdWith(services, caller.userId, idempotencyKey), hasMore: false };
      const rows = await runRows(services, ids, {
        origin,
        withTimes: query.times === 'true',
        onBytes: memory.takeForAnswer,
      });
      const isWhole = rows.length === ids.length;
      if (query.endingBefore !== undefined) rows.reverse();
      const usages = query.usage === 'true' && (await usageOfRuns(services.store, caller.userId, ids));
      const shown = rows.map(row => ({
        ...row,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(usages && { usage: usages.get(row.runId) }),
      }));
      return { rows: shown, hasMore: hasMore || !isWhole };
    },
  }),

  route({
    method: 'POST',
    path: '/v1/runs',
    checksKey: true,
    id: 'createRun',
    tag: 'Runs',
    summary: 'Run a published prompt version',
    description:
      'Waits up to two minutes for the run to end. If it goes on, the answer is 504 with its `runId`, to be asked for with `GET /v1/runs/{runId}`.',
    errors: [
      'FORBIDDEN_ERROR',
      'BAD_REQUEST_ERROR',
      'NOT_FOUND_ERROR',
      'PAYLOAD_TOO_LARGE_ERROR',
      'VALIDATION_ERROR',
      'GATEWAY_TIMEOUT_ERROR',
      'INSUFFICIENT_STORAGE_ERROR',
    ],
    headers: object({}, { 'Idempotency-Key': text({ description: IDEMPOTENCY_KEY }) }),
    body: createRunBody,
    data: runSchema,
    async handle(services, { caller, body, bodyDigest, origin, headers, memory }) {
      const idempotencyKey = headerOf(headers[IDEMPOTENCY_KEY_HEADER]);
      const { id, outcome } = await createRun(services, caller, body, {
        idempotencyKey,
        digest: bodyDigest,
        traceparent: traceparentOf(headers[TRACEPARENT_HEADER]),
        memory,
      });
      if (!outcome) {
        throw new ApiError('GATEWAY_TIMEOUT_ERROR', 'the run has not finished yet and goes on', {
          runId: id,
        });
      }
      if (!hasRoom(memory, outcome.outputs)) {
        const message =
          'the run has ended, and there is no room for its answer beside others now: ask for the run';
        throw new ApiError('GATEWAY_TIMEOUT_ERROR', message, { runId: id });
      }
      return runView({ id, ...outcome }, services, origin);
    },
  }),

  route({
    method: 'GET',
    path: '/v1/runs/:runId',
    id: 'getRun',
    tag: 'Runs',
    summary: 'One run of the caller',
    description: 'To wait for a run that goes on, or to read its outputs later.',
    errors: ['NOT_FOUND_ERROR'],
    params: object({ runId: text() }),
    data: runSchema,
    handle: (services, call) => shownRun(services, call, call.params.runId),
  }),

  route({
    method: 'GET',
    path: '/v1/runs/:runId/request',
    id: 'getRunRequest',
    tag: 'Runs',
    summary: 'What a run of the caller was created from',
    description: 'The body of its creation, to create it once more. Pictures are kept for a day.',
    errors: ['NOT_FOUND_ERROR', 'GONE_ERROR'],
    params: object({ runId: text() }),
    data: createRunBody,
    async handle(services, { caller, params }) {
      const { id } = await requireRun(services.store, caller.userId, params.runId);
      return await creationOf(services, caller.userId, id);
    },
  }),

  route({
    method: 'POST',
    path: '/v1/runs/:runId/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'End a run that has not ended',
    description: 'It has failed then, with the error item `cancelled`. A run that has ended stays as it is.',
    errors: ['NOT_FOUND_ERROR'],
    params: object({ runId: text() }),
    data: runSchema,
    async handle(services, call) {
      const { id } = await requireRun(services.store, call.caller.userId, call.params.runId);
      await services.runner.cancel(id);
      return await shownRun(services, call, id);
    },
  }),
];

async function shownRun(
  services: Services,
  { caller, origin, memory }: Pick<Call, 'caller' | 'origin' | 'memory'>,
  runId: string,
): Promise<Run> {
  const run = await requireRun(services.store, caller.userId, runId);
  memory.takeForAnswer(sizeOf(run.outputs));
  return runView(run, services, origin);
}

/** A creation is never refused for its answer: what was made would be made again. */
function hasRoom(memory: RequestMemory, outputs: readonly StoredOutput[]): boolean {
  try {
    memory.takeForAnswer(sizeOf(outputs));
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function sizeOf(outputs: readonly StoredOutput[]): number {
  return outputs.reduce((sum, output) => sum + ('data' in output ? output.data.length : 0), 0);
}

/** A run as creation and retrieval give it. */
function runView(
  { id, status, tokens, outputs, warnings = [] }: RunFacts,
  { mediaUrl }: Services,
  origin: string,
): Run {
  return {
    runId: id,
    outputs: outputItems(outputs, mediaUrl, origin),
    runStatus: status,
    tokens,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

type RunFacts = Pick<StoredRun, 'id' | 'status' | 'tokens' | 'outputs'> & Pick<Outcome, 'warnings'>;

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

async function createdWith({ store, clock }: Services, userId: number, key: string): Promise<string[]> {
  const created = await store.runs.createdWith(userId, key, clock.now());
  return created ? [created.run.id] : [];
}

/** One page of a user's runs. */
async function listRuns(
  { store }: Services,
  userId: number,
  { startingAfter, endingBefore, status, limit, ...times }: RunListQuery & { limit: number },
) {
  const from = microseconds(times.since);
  const until = microseconds(times.until);
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalid("startingAfter and endingBefore can't be sent together");
  }
  if (from !== undefined && until !== undefined && from >= until) {
    throw invalid('since must be less than until');
  }
  const page = await store.runs.page({
    userId,
    limit,
    status,
    startingAfter: startingAfter?.toLowerCase(),
    endingBefore: endingBefore?.toLowerCase(),
    from,
    until,
  });
  if (!page) {
    throw notFound(`${startingAfter === undefined ? 'endingBefore' : 'startingAfter'} is not a run of yours`);
  }
  return page;
}

function microseconds(time: number | undefined): number | undefined {
  return time === undefined ? undefined : time * (time > MOST_SECONDS ? 1000 : 1_000_000);
}
