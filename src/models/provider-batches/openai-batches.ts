import type OpenAI from 'openai';
import { isJsonObject } from '../../wire/bounded-json.ts';
import type { Access } from '../providers/access.ts';
import { connect } from '../providers/openai/speak.ts';
import { reasonOf } from '../providers/refusal.ts';
import {
  type BatchAnswer,
  type BatchProvider,
  type BatchRequest,
  type BatchState,
  resultsIn,
} from './batch-provider.ts';

/** The name of our mark among a batch's metadata. */
const MARK = 'promptrun';
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** OpenAI's batches: a file of requests, and a batch made of it. */
export async function openAiBatches(access: Access): Promise<BatchProvider> {
  const client = await connect(access, Number.POSITIVE_INFINITY);
  return {
    name: access.provider.name,
    limits: { requests: 50_000, bytes: 195_000_000 },
    async create(requests, key, upload, signal) {
      if (upload.id === undefined) {
        const file = fileOf(requests);
        upload.id = (await client.files.create({ file, purpose: 'batch' }, { signal })).id;
        await upload.onUploaded(upload.id);
      }
      const made = await client.batches.create(
        {
          input_file_id: upload.id,
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
          metadata: { [MARK]: key },
        },
        { signal },
      );
      return made.id;
    },
    async find(key, _requests, signal) {
      for await (const { id, metadata } of client.batches.list({ limit: 100 }, { signal })) {
        if (metadata?.[MARK] === key) return { id };
      }
      return undefined;
    },
    look: async (id, signal) => stateOf(await client.batches.retrieve(id, { signal })),
    async *collect(id, signal) {
      const { output_file_id: output, error_file_id: errors } = await client.batches.retrieve(id, { signal });
      for (const file of [output, errors]) {
        if (!file) continue;
        const response = await client.files.content(file, { signal });
        for await (const { customId, result } of resultsIn(response)) {
          yield { customId, answer: answerOf(result) };
        }
      }
    },
    async cancel(id, signal) {
      await client.batches.cancel(id, { signal });
    },
  };
}

function fileOf(requests: readonly BatchRequest[]): File {
  const lines = requests.map(({ customId, parameters }) => {
    const line = { custom_id: customId, method: 'POST', url: '/v1/chat/completions', body: parameters };
    return `${JSON.stringify(line)}\n`;
  });
  return new File(lines, 'promptrun.jsonl', { type: 'application/jsonl' });
}

function stateOf({ status, request_counts: counts, errors }: OpenAI.Batch): BatchState {
  const fault = status === 'failed' ? (reasonOf(errors?.data) ?? 'it does not say why') : undefined;
  return {
    state: status,
    ended: ENDED.has(status),
    done: counts?.completed ?? 0,
    failed: counts?.failed ?? 0,
    ...(fault !== undefined && { fault }),
  };
}

function answerOf({ response, error }: Record<string, unknown>): BatchAnswer {
  if (!isJsonObject(response)) return { fault: reasonOf(error) ?? 'it gave no answer' };
  const { status_code: status, body } = response;
  if (status === 200 && isJsonObject(body)) return { body };
  return { fault: `it answered ${String(status)} ${reasonOf(body) ?? reasonOf(error) ?? ''}`.trim() };
}
