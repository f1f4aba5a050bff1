import { Type } from 'typebox';
import { IDEMPOTENCY_KEY_HEADER, isUuid } from '../../wire/index.ts';
import { callerOf, success } from '../http/answer.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { App } from '../http/app-type.ts';
import { requireBody } from '../http/json-body.ts';
import { strictIntegers } from '../http/strict-integers.ts';
import { createRun } from '../runs/create-run.ts';
import { listRuns } from '../runs/list-runs.ts';
import { envelopeOf } from '../schemas/common.ts';
import { CreateRunSchema, RunListQuerySchema, RunPageSchema, RunSchema } from '../schemas/runs.ts';
import type { Services } from '../services.ts';
import { outputViews, runRow, runView } from './run-view.ts';

/** interface §4.1, §4.2, §4.3 */
export function runRoutes(app: App, services: Services): void {
  const { store } = services;

  app.get(
    '/runs',
    {
      config: {
        summary: 'Runs of the caller, newest first',
        errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
      },
      schema: { querystring: RunListQuerySchema, response: { 200: envelopeOf(RunPageSchema) } },
      preValidation: strictIntegers('limit', 'since', 'until'),
    },
    async request => {
      const { rows, hasMore } = await listRuns(store, callerOf(request).userId, request.query);
      return success({
        rows: rows.map(run => runRow(run, outputViews(services, request, run.outputs))),
        hasMore,
      });
    },
  );

  app.post(
    '/runs',
    {
      config: {
        summary: 'Run a published prompt version',
        errors: [
          'BAD_REQUEST_ERROR',
          'NOT_FOUND_ERROR',
          'PAYLOAD_TOO_LARGE_ERROR',
          'INSUFFICIENT_STORAGE_ERROR',
          'VALIDATION_ERROR',
          'GATEWAY_TIMEOUT_ERROR',
        ],
      },
      schema: { body: CreateRunSchema, response: { 200: envelopeOf(RunSchema) } },
      preValidation: requireBody,
    },
    async request => {
      const { id, outcome } = await createRun(
        services,
        callerOf(request),
        request.body,
        headerOf(request.headers[IDEMPOTENCY_KEY_HEADER]),
      );
      if (!outcome) {
        throw new ApiError('GATEWAY_TIMEOUT_ERROR', 'the run has not finished yet and goes on', {
          runId: id,
        });
      }
      return success(runView({ id, ...outcome }, outputViews(services, request, outcome.outputs)));
    },
  );

  app.get(
    '/runs/:runId',
    {
      config: { summary: 'One run of the caller', errors: ['NOT_FOUND_ERROR'] },
      schema: { params: Type.Object({ runId: Type.String() }), response: { 200: envelopeOf(RunSchema) } },
    },
    async request => {
      const id = request.params.runId.toLowerCase();
      const run = isUuid(id) ? await store.runs.find(callerOf(request).userId, id) : undefined;
      if (!run) throw notFound('there is no such run');
      return success(runView(run, outputViews(services, request, run.outputs)));
    },
  );
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
