import type OpenAI from 'openai';
import { isJsonObject } from '../../wire/bounded-json.ts';
import { connect } from '../engines/openai/speak.ts';
import type { Access } from '../engines/provider/access.ts';
import { reasonOf } from '../engines/provider/refusal.ts';
import type { BatchAnswer, BatchProvider, BatchRequest, BatchState } from './batch-provider.ts';

/** The name of our mark among a batch's metadata. */
const MARK = 'promptrun';
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** OpenAI's batches: a file of requests, and a batch made of it. */
export async function openAiBatches(access: Access): Promise<BatchProvider> {
  const client = await connect(access, Number.POSITIVE_INFINITY);
  return {
    name: access.provider.name,
    limits: { requests: 50_000, bytes: 190 * 1024 * 1024 },
    async create(requests, key, { file, onFile }, signal) {
      let inputFile = file;
      if (inputFile === undefined) {
        inputFile = (await upload(client, requests, signal)).id;
        await onFile(inputFile);
      }
      const made = await client.batches.create(
        {
          input_file_id: inputFile,
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
        if (file) yield* answersIn(await client.files.content(file, { signal }));
      }
    },
    async cancel(id, signal) {
      await client.batches.cancel(id, { signal });
    },
  };
}

async function upload(client: OpenAI, requests: readonly BatchRequest[], signal: AbortSignal) {
  const { toFile } = await import('openai');
  const lines = requests.map(({ customId, parameters }) => {
    const line = { custom_id: customId, method: 'POST', url: '/v1/chat/completions', body: parameters };
    return `${JSON.stringify(line)}\n`;
  });
  const file = await toFile(Buffer.from(lines.join('')), 'promptrun.jsonl', { type: 'application/jsonl' });
  return await client.files.create({ file, purpose: 'batch' }, { signal });
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

async function* answersIn(response: Response): AsyncGenerator<{ customId: string; answer: BatchAnswer }> {
  for await (const line of linesOf(response)) {
    const value = JSON.parse(line) as unknown;
    if (!isJsonObject(value) || typeof value['custom_id'] !== 'string') continue;
    yield { customId: value['custom_id'], answer: answerOf(value) };
  }
}

function answerOf({ response, error }: Record<string, unknown>): BatchAnswer {
  if (!isJsonObject(response)) return { fault: reasonOf(error) ?? 'it gave no answer' };
  const { status_code: status, body } = response;
  if (status === 200 && isJsonObject(body)) return { body };
  return { fault: `it answered ${String(status)} ${reasonOf(body) ?? reasonOf(error) ?? ''}`.trim() };
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield line;
  }
  if (rest.trim() !== '') yield rest;
}
