import { isJsonObject, textAt, type UncheckedObject, valueAt } from '../../utils/bounded-json.ts';
import { toError } from '../../utils/error-utils.ts';
import { isSameOrigin } from '../../wire/addresses.ts';
import { reasonInBody } from '../providers/answers/error-body.ts';
import { countAt } from '../providers/answers/model-answer.ts';
import { ProviderFault, statusIn } from '../providers/answers/provider-fault.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';
import { requestJsonObject, requestProvider, type TypedBody } from '../providers/request-provider.ts';
import { resultsIn, streamedBody } from './batch-files.ts';
import {
  type BatchAnswer,
  type BatchProvider,
  type BatchRequest,
  type BatchState,
  listedBatches,
  rethrowExpired,
} from './batch-provider.ts';

type RequestResults = ReturnType<typeof resultsIn>;
const BATCHES = '/v1/messages/batches';

/** Returns Anthropic's Message Batches. They have no metadata: only the ids of their requests identify them. */
export function anthropicBatches(access: ProviderAccess): BatchProvider {
  const headers = {
    'anthropic-version': '2023-06-01',
    ...(access.key !== undefined && { 'x-api-key': access.key }),
  };
  const ask = (path: string, signal: AbortSignal, body?: object): Promise<UncheckedObject> =>
    requestJsonObject({ path, headers, ...(body && { method: 'POST', body }) }, access, signal);
  const look = (id: string, signal: AbortSignal): Promise<UncheckedObject> => ask(batchPath(id), signal);
  async function* results(id: string, signal: AbortSignal): RequestResults {
    const batch = await look(id, signal);
    const url = textAt(batch, 'results_url');
    if (url === undefined) throw noResults(batch);
    // Behind a proxy, the URL names the service's own host, to which the key must not go.
    const path = isSameOrigin(url, access.provider.baseUrl) ? url : `${batchPath(id)}/results`;
    yield* resultsIn(await requestProvider({ path, headers }, access, signal).catch(rethrowExpired));
  }
  return {
    name: access.provider.name,
    endpoint: '/v1/messages',
    limits: { requests: 100_000, bytes: 250_000_000 },
    async create(requests, _key, _upload, signal) {
      return requiredId(await ask(BATCHES, signal, batchBody(requests)));
    },
    /** Compares the first result of each batch of the same size. */
    async find({ key, since, requests }, signal) {
      const page = (after: string) =>
        ask(`${BATCHES}?limit=100${after && `&after_id=${encodeURIComponent(after)}`}`, signal);
      let hasUnread = false;
      let missingError: Error | undefined;
      let expiredBatch: { readonly id: string } | undefined;
      for await (const batch of listedBatches(page)) {
        if (requestTotal(batch) !== requests) continue;
        if (batch['processing_status'] !== 'ended') {
          hasUnread = true;
          continue;
        }
        const id = requiredId(batch);
        // Another batch without results must not hide ours, but it may be ours.
        try {
          if (await beginsWith(results(id, signal), key)) return { id };
        } catch (error) {
          const status = statusIn(error);
          if (status === 410) expiredBatch ??= isSince(batch, since) ? { id } : undefined;
          else if (status === 404) missingError ??= toError(error);
          else throw error;
        }
      }
      if (missingError) throw missingError;
      return hasUnread ? 'unread' : expiredBatch;
    },
    readState: async (id, signal) => batchState(await look(id, signal)),
    async *collect(id, signal) {
      for await (const { customId, result } of results(id, signal)) {
        yield { customId, answer: batchAnswer(result['result']) };
      }
    },
    async cancel(id, signal) {
      await ask(`${batchPath(id)}/cancel`, signal, {});
    },
  };
}

function batchPath(id: string): string {
  return `${BATCHES}/${encodeURIComponent(id)}`;
}

function batchBody(requests: readonly BatchRequest[]): TypedBody {
  return streamedBody('application/json', function* () {
    yield '{"requests":[';
    for (const [index, { customId, parameters }] of requests.entries()) {
      yield `${index === 0 ? '' : ','}{"custom_id":${JSON.stringify(customId)},"params":`;
      yield parameters;
      yield '}';
    }
    yield ']}';
  });
}

/** @throws {ProviderFault} if the batch has no id */
function requiredId(batch: UncheckedObject): string {
  const id = textAt(batch, 'id');
  if (id === undefined) throw new ProviderFault('returned no batch id', { mayHaveCost: true });
  return id;
}

/** Returns the fault of a batch without results: an archived one has lost them, any other may get them later. */
function noResults(batch: UncheckedObject): ProviderFault {
  const archived = textAt(batch, 'archived_at') !== undefined;
  const what = `${archived ? 'no longer has' : 'does not return'} the results of the batch ${requiredId(batch)}`;
  return new ProviderFault(what, { status: archived ? 410 : 404 });
}

/** Returns true if the first result has this key. @throws {ProviderFault} if they can't be read */
async function beginsWith(results: RequestResults, key: string): Promise<boolean> {
  for await (const { customId } of results) return customId.startsWith(key);
  return false;
}

/** Maximum difference between the provider's clock and this machine's, in milliseconds. */
const CLOCKS_APART_MS = 24 * 60 * 60 * 1000;

/** Returns true unless a batch was certainly created before a time. */
function isSince(batch: UncheckedObject, since: number | undefined): boolean {
  const created = Date.parse(textAt(batch, 'created_at') ?? '');
  return since === undefined || !(created < since - CLOCKS_APART_MS);
}

const COUNTS = ['processing', 'succeeded', 'errored', 'canceled', 'expired'] as const;

function requestCount(batch: UncheckedObject, ...names: (typeof COUNTS)[number][]): number {
  const counts = names.map(name => countAt(valueAt(batch, 'request_counts'), name) ?? 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

function requestTotal(batch: UncheckedObject): number {
  return requestCount(batch, ...COUNTS);
}

function batchState(batch: UncheckedObject): BatchState {
  const state = textAt(batch, 'processing_status') ?? 'unknown';
  return {
    state,
    ended: state === 'ended',
    done: requestCount(batch, 'succeeded'),
    failed: requestCount(batch, 'errored', 'canceled', 'expired'),
  };
}

function batchAnswer(result: unknown): BatchAnswer {
  const { type, message, error } = isJsonObject(result) ? result : {};
  if (type === 'succeeded' && isJsonObject(message)) return { body: message };
  if (type === 'expired') return { fault: 'the request expired before it was processed' };
  if (type === 'canceled') return { fault: 'the request was cancelled' };
  return { fault: `it answered with an error: ${reasonInBody(error) ?? 'it gave no reason'}` };
}
