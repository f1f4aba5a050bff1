import type { Batches as BatchesClient, MessageBatch } from '@anthropic-ai/sdk/resources/messages/batches';
import { connect } from '../engines/anthropic/speak.ts';
import type { Access } from '../engines/provider/access.ts';
import { reasonOf } from '../engines/provider/refusal.ts';
import type { BatchAnswer, BatchProvider, BatchState } from './batch-provider.ts';

/** Anthropic's Message Batches. They carry no mark of ours but the names of their requests, which their answers show. */
export async function anthropicBatches(access: Access): Promise<BatchProvider> {
  const { Batches } = await import('@anthropic-ai/sdk/resources/messages/batches');
  const batches = new Batches(await connect(access, Number.POSITIVE_INFINITY));
  return {
    name: access.provider.name,
    limits: { requests: 100_000, bytes: 250 * 1024 * 1024 },
    async create(requests, _key, _upload, signal) {
      const parameters = requests.map(({ customId, parameters }) => ({
        custom_id: customId,
        params: parameters as BatchesClient.BatchCreateParams.Request['params'],
      }));
      return (await batches.create({ requests: parameters }, { signal })).id;
    },
    find: (key, requests, signal) => findBatch(batches, key, requests, signal),
    look: async (id, signal) => stateOf(await batches.retrieve(id, {}, { signal })),
    async *collect(id, signal) {
      for await (const { custom_id: customId, result } of await batches.results(id, {}, { signal })) {
        yield { customId, answer: answerOf(result) };
      }
    },
    async cancel(id, signal) {
      await batches.cancel(id, {}, { signal });
    },
  };
}

/** By the first answer of each batch of the same size. */
async function findBatch(
  batches: BatchesClient,
  key: string,
  requests: number,
  signal: AbortSignal,
): Promise<{ id: string } | 'unread' | undefined> {
  let unread = false;
  for await (const batch of batches.list({ limit: 100 }, { signal })) {
    if (sizeOf(batch) !== requests) continue;
    if (batch.processing_status !== 'ended') unread = true;
    else if (await isOurs(batches, batch.id, key, signal)) return { id: batch.id };
  }
  return unread ? 'unread' : undefined;
}

async function isOurs(
  batches: BatchesClient,
  id: string,
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    for await (const { custom_id: customId } of await batches.results(id, {}, { signal })) {
      return customId.startsWith(key);
    }
  } catch (error) {
    signal.throwIfAborted();
    // Results that are gone can't be told apart from those of others: they are older than ours can be.
    if (isGone(error)) return false;
    throw error;
  }
  return false;
}

function isGone(error: unknown): boolean {
  return error instanceof Error && (!('status' in error) || [404, 410].includes(Number(error.status)));
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

function answerOf(result: BatchesClient.MessageBatchResult): BatchAnswer {
  if (result.type === 'succeeded') return { body: { ...result.message } };
  if (result.type === 'errored') {
    return { fault: `it answered with an error: ${reasonOf(result.error) ?? 'it does not say which'}` };
  }
  return { fault: result.type === 'expired' ? 'it did not come to it within its time' : 'it was cancelled' };
}
