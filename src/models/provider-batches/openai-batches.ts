import { randomUUID } from 'node:crypto';
import {
  isJsonObject,
  readTextAt,
  readValueAt,
  type UncheckedObject,
} from '../../utils/bounded-json.ts';
import { findReason } from '../providers/answers/error-body.ts';
import { readCountAt } from '../providers/answers/model-answer.ts';
import { ProviderFault } from '../providers/answers/provider-fault.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';
import {
  requestJsonObject,
  requestProvider,
  type TypedBody,
} from '../providers/request-provider.ts';
import { createStreamedBody, readResults } from './batch-files.ts';
import {
  type BatchAnswer,
  type BatchProvider,
  type BatchRequest,
  type BatchSearch,
  type BatchState,
  iterateBatches,
  rethrowExpired,
  type Upload,
} from './batch-provider.ts';

/** The metadata field that holds the key of a batch. */
const KEY_METADATA_FIELD = 'promptrun';
const RESPONSES_PATH = '/v1/responses';
const ENDED_STATES: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** OpenAI's batches, which are created from an uploaded file of requests. */
export class OpenAiBatches implements BatchProvider {
  readonly name: string;
  readonly endpoint: string;
  /** OpenAI allows 50,000 requests and 200 MB. */
  readonly limits = { requests: 50_000, bytes: 195_000_000 };
  readonly #access: ProviderAccess;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(access: ProviderAccess) {
    const { provider, key } = access;
    this.name = provider.name;
    this.endpoint =
      provider.interfaceName === 'openai-responses' ? RESPONSES_PATH : '/v1/chat/completions';
    this.#access = access;
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  async create(
    requests: readonly BatchRequest[],
    batchKey: string,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<string> {
    // A batch has one interface, and only Chat Completions takes tools in its form.
    if (this.endpoint === RESPONSES_PATH && requests.some(isChatRequest)) {
      throw new ProviderFault('takes no tools of Chat Completions in a batch', {
        advice: 'leave out --provider-batch',
      });
    }

    if (upload.id === undefined) {
      upload.id = requireId(
        await this.#ask('/files', signal, buildUploadForm(requests, this.endpoint)),
      );
      await upload.onUploaded(upload.id);
    }

    const batch = {
      input_file_id: upload.id,
      endpoint: this.endpoint,
      completion_window: '24h',
      metadata: { [KEY_METADATA_FIELD]: batchKey },
    };
    return requireId(await this.#ask('/batches', signal, batch));
  }

  async find(
    { batchKey, fileId }: BatchSearch,
    signal: AbortSignal,
  ): Promise<{ id: string } | undefined> {
    for await (const batch of iterateBatches(afterId => this.#fetchPage(afterId, signal))) {
      // Some providers of this interface keep no metadata.
      const hasSameFile = fileId !== undefined && readTextAt(batch, 'input_file_id') === fileId;
      if (hasSameFile || readTextAt(batch, 'metadata', KEY_METADATA_FIELD) === batchKey) {
        return { id: requireId(batch) };
      }
    }
    return undefined;
  }

  async readState(id: string, signal: AbortSignal): Promise<BatchState> {
    return readBatchState(await this.#ask(buildBatchPath(id), signal));
  }

  async *collect(
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ customId: string; answer: BatchAnswer }, void> {
    const batch = await this.#ask(buildBatchPath(id), signal);
    const outputFileId = readTextAt(batch, 'output_file_id');
    if (!outputFileId && readBatchState(batch).doneCount > 0) {
      throw new ProviderFault(`does not return the results of the batch ${id}`, { status: 404 });
    }

    for (const fileId of [outputFileId, readTextAt(batch, 'error_file_id')]) {
      if (!fileId) continue;
      const request = { path: buildContentPath(fileId), headers: this.#headers };
      const content = await requestProvider(request, this.#access, signal).catch(rethrowExpired);
      for await (const { customId, result } of readResults(content)) {
        yield { customId, answer: readBatchAnswer(result) };
      }
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask(`${buildBatchPath(id)}/cancel`, signal, {});
  }

  async #ask(path: string, signal: AbortSignal, body?: object): Promise<UncheckedObject> {
    const request = {
      path,
      headers: this.#headers,
      ...(body && { method: 'POST' as const, body }),
    };
    return await requestJsonObject(request, this.#access, signal);
  }

  /** Returns the page of the list after a batch; the first page if `afterId` is empty. */
  async #fetchPage(afterId: string, signal: AbortSignal): Promise<UncheckedObject> {
    const position = afterId && `&after=${encodeURIComponent(afterId)}`;
    return await this.#ask(`/batches?limit=100${position}`, signal);
  }
}

function buildBatchPath(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

function buildContentPath(fileId: string): string {
  return `/files/${encodeURIComponent(fileId)}/content`;
}

/** @throws {ProviderFault} if the object has no id */
function requireId(created: UncheckedObject): string {
  const id = readTextAt(created, 'id');
  if (id === undefined) throw new ProviderFault('returned no id', { mayHaveCost: true });
  return id;
}

/** Returns the form that uploads the requests as a file. */
function buildUploadForm(requests: readonly BatchRequest[], endpoint: string): TypedBody {
  const boundary = `promptrun-${randomUUID()}`;
  return createStreamedBody(`multipart/form-data; boundary=${boundary}`, function* () {
    yield `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n`;
    yield `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="promptrun.jsonl"\r\n`;
    yield 'content-type: application/jsonl\r\n\r\n';

    for (const { customId, parameters } of requests) {
      yield `{"custom_id":${JSON.stringify(customId)},"method":"POST","url":${JSON.stringify(endpoint)},"body":`;
      yield parameters;
      yield '}\n';
    }

    yield `\r\n--${boundary}--\r\n`;
  });
}

function readBatchState(batch: UncheckedObject): BatchState {
  const state = readTextAt(batch, 'status') ?? 'unknown';
  const errors = readValueAt(batch, 'errors', 'data');
  const fault = state === 'failed' ? (findReason(errors) ?? 'it gave no reason') : undefined;

  return {
    state,
    hasEnded: ENDED_STATES.has(state),
    doneCount: readCountAt(batch, 'request_counts', 'completed') ?? 0,
    failedCount: readCountAt(batch, 'request_counts', 'failed') ?? 0,
    ...(fault !== undefined && { fault }),
  };
}

function readBatchAnswer({ response, error }: Record<string, unknown>): BatchAnswer {
  if (!isJsonObject(response)) return { fault: findReason(error) ?? 'it returned no answer' };
  const { status_code: status, body } = response;
  if (status === 200 && isJsonObject(body)) return { body };
  return {
    fault: `it answered ${String(status)} ${findReason(body) ?? findReason(error) ?? ''}`.trim(),
  };
}

/**
 * Returns true for the body of a request to Chat Completions. In one to Responses, a prompt with the
 * same words has escaped quotes.
 */
function isChatRequest({ parameters }: BatchRequest): boolean {
  return Buffer.from(parameters).includes('"messages":[{"role"');
}
