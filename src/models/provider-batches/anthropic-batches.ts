import { isJsonObject, listAt, textAt, valueAt } from '../../wire/bounded-json.ts';
import type { Access } from '../providers/access.ts';
import { countAt } from '../providers/answer.ts';
import { type EncodedBody, exchange, exchangeJson } from '../providers/exchange.ts';
import { statusIn } from '../providers/fault.ts';
import { ProviderFault, reasonOf } from '../providers/refusal.ts';
import {
  type BatchAnswer,
  type BatchProvider,
  type BatchRequest,
  type BatchState,
  bodyOf,
  resultsIn,
  rethrowExpired,
} from './batch-provider.ts';

type Results = ReturnType<typeof resultsIn>;
type Json = Readonly<Record<string, unknown>>;

const BATCHES = '/v1/messages/batches';

/** Anthropic's Message Batches. They have no metadata: only the ids of their requests identify them. */
export function anthropicBatches(access: Access): BatchProvider {
  const headers = {
    'anthropic-version': '2023-06-01',
    ...(access.key !== undefined && { 'x-api-key': access.key }),
  };
  const ask = (path: string, signal: AbortSignal, body?: object): Promise<Json> =>
    exchangeJson({ path, headers, ...(body && { method: 'POST', body }) }, access, signal);
  const look = (id: string, signal: AbortSignal): Promise<Json> => ask(pathOf(id), signal);
  async function* results(id: string, signal: AbortSignal): Results {
    const batch = await look(id, signal);
    const url = textAt(batch, 'results_url');
    if (url === undefined) throw noResults(batch);
    yield* resultsIn(await exchange({ path: url, headers }, access, signal).catch(rethrowExpired));
  }
  async function* all(signal: AbortSignal): AsyncGenerator<Json, void> {
    for (let after = ''; ; ) {
      const page = await ask(`${BATCHES}?limit=100${after}`, signal);
      yield* listAt(page, 'data').filter(isJsonObject);
      const last = textAt(page, 'last_id');
      if (page['has_more'] !== true || last === undefined) return;
      after = `&after_id=${encodeURIComponent(last)}`;
    }
  }
  return {
    name: access.provider.name,
    interface: '/v1/messages',
    limits: { requests: 100_000, bytes: 250_000_000 },
    async create(requests, _key, _upload, signal) {
      return idOf(await ask(BATCHES, signal, listOf(requests)));
    },
    /** Compares the first result of each batch of the same size. */
    async find(key, requests, signal) {
      let unread = false;
      for await (const batch of all(signal)) {
        if (sizeOf(batch) !== requests) continue;
        if (batch['processing_status'] !== 'ended') unread = true;
        else if (await startsWith(results(idOf(batch), signal), key)) return { id: idOf(batch) };
      }
      return unread ? 'unread' : undefined;
    },
    look: async (id, signal) => stateOf(await look(id, signal)),
    async *collect(id, signal) {
      for await (const { customId, result } of results(id, signal)) {
        yield { customId, answer: answerOf(result['result']) };
      }
    },
    async cancel(id, signal) {
      await ask(`${pathOf(id)}/cancel`, signal, {});
    },
  };
}

function pathOf(id: string): string {
  return `${BATCHES}/${encodeURIComponent(id)}`;
}

/** Returns the body that creates a batch. */
function listOf(requests: readonly BatchRequest[]): EncodedBody {
  return bodyOf('application/json', function* () {
    yield '{"requests":[';
    for (const [at, { customId, parameters }] of requests.entries()) {
      yield `${at === 0 ? '' : ','}{"custom_id":${JSON.stringify(customId)},"params":`;
      yield parameters;
      yield '}';
    }
    yield ']}';
  });
}

/** @throws {ProviderFault} if the batch has no id */
function idOf(batch: Json): string {
  const id = textAt(batch, 'id');
  if (id === undefined) throw new ProviderFault('returned no batch id', { mayHaveCost: true });
  return id;
}

/** Returns the fault of a batch without results: an archived one has lost them, any other may get them later. */
function noResults(batch: Json): ProviderFault {
  const archived = textAt(batch, 'archived_at') !== undefined;
  const what = `${archived ? 'no longer has' : 'does not return'} the results of the batch ${idOf(batch)}`;
  return new ProviderFault(what, { status: archived ? 410 : 404 });
}

/** Returns true if the first result has this key. Expired results can't be ours. @throws if they can't be read, but may be ours */
async function startsWith(results: Results, key: string): Promise<boolean> {
  try {
    for await (const { customId } of results) return customId.startsWith(key);
  } catch (error) {
    if (statusIn(error) !== 410) throw error;
  }
  return false;
}

const COUNTS = ['processing', 'succeeded', 'errored', 'canceled', 'expired'] as const;

function countOf(batch: Json, ...names: (typeof COUNTS)[number][]): number {
  const counts = names.map(name => countAt(valueAt(batch, 'request_counts'), name) ?? 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

function sizeOf(batch: Json): number {
  return countOf(batch, ...COUNTS);
}

function stateOf(batch: Json): BatchState {
  const state = textAt(batch, 'processing_status') ?? 'unknown';
  return {
    state,
    ended: state === 'ended',
    done: countOf(batch, 'succeeded'),
    failed: countOf(batch, 'errored', 'canceled', 'expired'),
  };
}

function answerOf(result: unknown): BatchAnswer {
  const { type, message, error } = isJsonObject(result) ? result : {};
  if (type === 'succeeded' && isJsonObject(message)) return { body: message };
  if (type === 'expired') return { fault: 'the request expired before it was processed' };
  if (type === 'canceled') return { fault: 'the request was cancelled' };
  return { fault: `it answered with an error: ${reasonOf(error) ?? 'it gave no reason'}` };
}
