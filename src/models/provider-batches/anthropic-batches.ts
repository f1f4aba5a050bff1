import type { Batches as BatchesClient, MessageBatch } from '@anthropic-ai/sdk/resources/messages/batches';
import { isJsonObject } from '../../wire/bounded-json.ts';
import type { Access } from '../providers/access.ts';
import { connect } from '../providers/anthropic/speak.ts';
import { statusIn } from '../providers/fault.ts';
import { ProviderFault, reasonOf } from '../providers/refusal.ts';
import { type BatchAnswer, type BatchProvider, type BatchState, resultsIn } from './batch-provider.ts';

type Results = ReturnType<typeof resultsIn>;

/** Anthropic's Message Batches. They carry no mark of ours but the names of their requests, which their answers show. */
export async function anthropicBatches(access: Access): Promise<BatchProvider> {
  const { Batches } = await import('@anthropic-ai/sdk/resources/messages/batches');
  const client = await connect(access, Number.POSITIVE_INFINITY);
  const batches = new Batches(client);
  const look = (id: string, signal: AbortSignal): Promise<MessageBatch> =>
    batches.retrieve(id, {}, { signal });
  async function* results(id: string, signal: AbortSignal): Results {
    const { results_url: url } = await look(id, signal);
    if (url === null) throw new ProviderFault(`has no results of the batch ${id}`, { status: 410 });
    yield* resultsIn(await client.get(url, { signal }).asResponse());
  }
  return {
    name: access.provider.name,
    limits: { requests: 100_000, bytes: 250_000_000 },
    async create(requests, _key, _upload, signal) {
      const parameters = requests.map(({ customId, parameters }) => ({
        custom_id: customId,
        params: parameters as BatchesClient.BatchCreateParams.Request['params'],
      }));
      return (await batches.create({ requests: parameters }, { signal })).id;
    },
    /** By the first answer of each batch of the same size. */
    async find(key, requests, signal) {
      let unread = false;
      for await (const batch of batches.list({ limit: 100 }, { signal })) {
        if (sizeOf(batch) !== requests) continue;
        if (batch.processing_status !== 'ended') unread = true;
        else if (await startsWith(results(batch.id, signal), key)) return { id: batch.id };
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
      await batches.cancel(id, {}, { signal });
    },
  };
}

/** Results that are gone can't be told apart from those of others: they are older than ours can be. */
async function startsWith(results: Results, key: string): Promise<boolean> {
  try {
    for await (const { customId } of results) return customId.startsWith(key);
  } catch (error) {
    if (![404, 410].includes(statusIn(error) ?? 0)) throw error;
  }
  return false;
}

function sizeOf({ request_counts: counts }: MessageBatch): number {
  return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired;
}

function stateOf({ processing_status: state, request_counts: counts }: MessageBatch): BatchState {
  return {
    state,
    ended: state === 'ended',
    done: counts.succeeded,
    failed: counts.errored + counts.canceled + counts.expired,
  };
}

function answerOf(result: unknown): BatchAnswer {
  const { type, message, error } = isJsonObject(result) ? result : {};
  if (type === 'succeeded' && isJsonObject(message)) return { body: message };
  if (type === 'expired') return { fault: 'it did not come to it within its time' };
  if (type === 'canceled') return { fault: 'it was cancelled' };
  return { fault: `it answered with an error: ${reasonOf(error) ?? 'it does not say which'}` };
}
