import { randomUUID } from 'node:crypto';
import { isJsonObject, textAt, type UncheckedObject, valueAt } from '../../utils/bounded-json.ts';
import { reasonInBody } from '../providers/answers/error-body.ts';
import { countAt } from '../providers/answers/model-answer.ts';
import { ProviderFault } from '../providers/answers/provider-fault.ts';
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

/** The metadata field that holds the key of a batch. */
const BATCH_MARK = 'promptrun';
const RESPONSES_PATH = '/v1/responses';
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Returns OpenAI's batches, which are created from an uploaded file of requests. */
export function openAiBatches(access: ProviderAccess): BatchProvider {
  const endpoint = access.provider.engine === 'openai-responses' ? RESPONSES_PATH : '/v1/chat/completions';
  const headers = access.key === undefined ? {} : { authorization: `Bearer ${access.key}` };
  const ask = (path: string, signal: AbortSignal, body?: object): Promise<UncheckedObject> =>
    requestJsonObject({ path, headers, ...(body && { method: 'POST', body }) }, access, signal);
  return {
    name: access.provider.name,
    endpoint: endpoint,
    limits: { requests: 50_000, bytes: 195_000_000 },
    async create(requests, key, upload, signal) {
      // A batch has one interface, and only Chat Completions takes tools in its form.
      if (endpoint === RESPONSES_PATH && requests.some(hasMessages)) {
        throw new ProviderFault('takes no tools of Chat Completions in a batch', {
          advice: 'leave out --provider-batch',
        });
      }
      if (upload.id === undefined) {
        upload.id = requiredId(await ask('/files', signal, uploadForm(requests, endpoint)));
        await upload.onUploaded(upload.id);
      }
      const batch = {
        input_file_id: upload.id,
        endpoint,
        completion_window: '24h',
        metadata: { [BATCH_MARK]: key },
      };
      return requiredId(await ask('/batches', signal, batch));
    },
    async find({ key, file }, signal) {
      const page = (after: string) =>
        ask(`/batches?limit=100${after && `&after=${encodeURIComponent(after)}`}`, signal);
      for await (const batch of listedBatches(page)) {
        // Some providers of this interface keep no metadata.
        const isOurs =
          textAt(batch, 'metadata', BATCH_MARK) === key ||
          (file !== undefined && textAt(batch, 'input_file_id') === file);
        if (isOurs) return { id: requiredId(batch) };
      }
      return undefined;
    },
    readState: async (id, signal) => batchState(await ask(batchPath(id), signal)),
    async *collect(id, signal) {
      const batch = await ask(batchPath(id), signal);
      const output = textAt(batch, 'output_file_id');
      if (!output && batchState(batch).done > 0) {
        throw new ProviderFault(`does not return the results of the batch ${id}`, { status: 404 });
      }
      for (const file of [output, textAt(batch, 'error_file_id')]) {
        if (!file) continue;
        const content = await requestProvider({ path: contentPath(file), headers }, access, signal).catch(
          rethrowExpired,
        );
        for await (const { customId, result } of resultsIn(content)) {
          yield { customId, answer: batchAnswer(result) };
        }
      }
    },
    async cancel(id, signal) {
      await ask(`${batchPath(id)}/cancel`, signal, {});
    },
  };
}

function batchPath(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

function contentPath(file: string): string {
  return `/files/${encodeURIComponent(file)}/content`;
}

/** @throws {ProviderFault} if the object has no id */
function requiredId(created: UncheckedObject): string {
  const id = textAt(created, 'id');
  if (id === undefined) throw new ProviderFault('returned no id', { mayHaveCost: true });
  return id;
}

/** Returns the form that uploads the requests as a file. */
function uploadForm(requests: readonly BatchRequest[], url: string): TypedBody {
  const boundary = `promptrun-${randomUUID()}`;
  return streamedBody(`multipart/form-data; boundary=${boundary}`, function* () {
    yield `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n`;
    yield `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="promptrun.jsonl"\r\n`;
    yield 'content-type: application/jsonl\r\n\r\n';
    for (const { customId, parameters } of requests) {
      yield `{"custom_id":${JSON.stringify(customId)},"method":"POST","url":${JSON.stringify(url)},"body":`;
      yield parameters;
      yield '}\n';
    }
    yield `\r\n--${boundary}--\r\n`;
  });
}

function batchState(batch: UncheckedObject): BatchState {
  const state = textAt(batch, 'status') ?? 'unknown';
  const errors = valueAt(batch, 'errors', 'data');
  const fault = state === 'failed' ? (reasonInBody(errors) ?? 'it gave no reason') : undefined;
  return {
    state,
    ended: ENDED.has(state),
    done: countAt(batch, 'request_counts', 'completed') ?? 0,
    failed: countAt(batch, 'request_counts', 'failed') ?? 0,
    ...(fault !== undefined && { fault }),
  };
}

function batchAnswer({ response, error }: Record<string, unknown>): BatchAnswer {
  if (!isJsonObject(response)) return { fault: reasonInBody(error) ?? 'it returned no answer' };
  const { status_code: status, body } = response;
  if (status === 200 && isJsonObject(body)) return { body };
  return { fault: `it answered ${String(status)} ${reasonInBody(body) ?? reasonInBody(error) ?? ''}`.trim() };
}

/** Returns true for a request to Chat Completions. Within a text, the quotes would be escaped. */
function hasMessages({ parameters }: BatchRequest): boolean {
  return Buffer.from(parameters).includes('"messages":[{"role"');
}
