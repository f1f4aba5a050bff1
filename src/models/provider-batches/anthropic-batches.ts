import {
  isJsonObject,
  readTextAt,
  readValueAt,
  type UncheckedObject,
} from '../../utils/bounded-json.ts';
import { toError } from '../../utils/error-utils.ts';
import { isSameOrigin } from '../../wire/addresses.ts';
import { findReason } from '../providers/answers/error-body.ts';
import { readCountAt } from '../providers/answers/model-answer.ts';
import { findProviderStatus, ProviderFault } from '../providers/answers/provider-fault.ts';
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

type RequestResults = ReturnType<typeof readResults>;

const BATCHES_PATH = '/v1/messages/batches';

/**
 * Anthropic's Message Batches. They have no metadata: only the ids of their requests identify them.
 */
export class AnthropicBatches implements BatchProvider {
  readonly name: string;
  readonly endpoint = '/v1/messages';
  /** Anthropic allows 100,000 requests and 256 MB. */
  readonly limits = { requests: 100_000, bytes: 250_000_000 };
  readonly #access: ProviderAccess;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(access: ProviderAccess) {
    const { provider, key } = access;
    this.name = provider.name;
    this.#access = access;
    this.#headers = {
      'anthropic-version': '2023-06-01',
      ...(key !== undefined && { 'x-api-key': key }),
    };
  }

  async create(
    requests: readonly BatchRequest[],
    _batchKey: string,
    _upload: Upload,
    signal: AbortSignal,
  ): Promise<string> {
    return requireId(await this.#ask(BATCHES_PATH, signal, buildBatchBody(requests)));
  }

  /** Compares the first result of each batch of the same size. */
  async find(
    { batchKey, createdAfterMs, requestCount }: BatchSearch,
    signal: AbortSignal,
  ): Promise<{ id: string } | 'unread' | undefined> {
    let hasUnread = false;
    let missingError: Error | undefined;
    let expiredBatch: { readonly id: string } | undefined;
    for await (const batch of iterateBatches(afterId => this.#fetchPage(afterId, signal))) {
      if (countAllRequests(batch) !== requestCount) continue;
      const match = await this.#matchFirstResult(batch, batchKey, signal);
      if (match.kind === 'same') return { id: match.id };
      if (match.kind === 'unread') hasUnread = true;
      if (match.kind === 'missing') missingError ??= match.error;
      if (match.kind === 'expired' && mayBeCreatedAfter(batch, createdAfterMs)) {
        expiredBatch ??= { id: match.id };
      }
    }

    if (missingError) throw missingError;
    return hasUnread ? 'unread' : expiredBatch;
  }

  async readState(id: string, signal: AbortSignal): Promise<BatchState> {
    return readBatchState(await this.#ask(buildBatchPath(id), signal));
  }

  async *collect(
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ customId: string; answer: BatchAnswer }, void> {
    for await (const { customId, result } of this.#fetchResults(id, signal)) {
      yield { customId, answer: readBatchAnswer(result['result']) };
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
    const position = afterId && `&after_id=${encodeURIComponent(afterId)}`;
    return await this.#ask(`${BATCHES_PATH}?limit=100${position}`, signal);
  }

  /**
   * Compares the first result of a batch with a key. A batch that has not ended or has lost its
   * results may be the one that is searched for, but another one may be too.
   */
  async #matchFirstResult(
    batch: UncheckedObject,
    batchKey: string,
    signal: AbortSignal,
  ): Promise<BatchMatch> {
    if (batch['processing_status'] !== 'ended') return { kind: 'unread' };
    const id = requireId(batch);
    try {
      return {
        kind: (await firstResultHasKey(this.#fetchResults(id, signal), batchKey))
          ? 'same'
          : 'other',
        id,
      };
    } catch (error) {
      const status = findProviderStatus(error);
      if (status === 410) return { kind: 'expired', id };
      if (status === 404) return { kind: 'missing', error: toError(error) };
      throw error;
    }
  }

  async *#fetchResults(id: string, signal: AbortSignal): RequestResults {
    const batch = await this.#ask(buildBatchPath(id), signal);
    const url = readTextAt(batch, 'results_url');
    if (url === undefined) throw createMissingResultsFault(batch);

    // Behind a proxy, the URL names the service's own host, to which the key must not go.
    const path = isSameOrigin(url, this.#access.provider.baseUrl)
      ? url
      : `${buildBatchPath(id)}/results`;
    const request = { path, headers: this.#headers };
    yield* readResults(await requestProvider(request, this.#access, signal).catch(rethrowExpired));
  }
}

/** The result of comparing a batch with the one that is searched for. */
type BatchMatch =
  | { readonly kind: 'same' | 'other' | 'expired'; readonly id: string }
  | { readonly kind: 'unread' }
  | { readonly kind: 'missing'; readonly error: Error };

function buildBatchPath(id: string): string {
  return `${BATCHES_PATH}/${encodeURIComponent(id)}`;
}

function buildBatchBody(requests: readonly BatchRequest[]): TypedBody {
  return createStreamedBody('application/json', function* () {
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
function requireId(batch: UncheckedObject): string {
  const id = readTextAt(batch, 'id');
  if (id === undefined) throw new ProviderFault('returned no batch id', { mayHaveCost: true });
  return id;
}

/**
 * Returns the fault of a batch without results: an archived one has lost them, any other may get
 * them later.
 */
function createMissingResultsFault(batch: UncheckedObject): ProviderFault {
  const isArchived = readTextAt(batch, 'archived_at') !== undefined;
  const message = `${isArchived ? 'no longer has' : 'does not return'} the results of the batch ${requireId(batch)}`;
  return new ProviderFault(message, { status: isArchived ? 410 : 404 });
}

/**
 * Returns true if the id of the first result begins with a key.
 *
 * @throws {ProviderFault} if the results can't be read
 */
async function firstResultHasKey(results: RequestResults, batchKey: string): Promise<boolean> {
  for await (const { customId } of results) return customId.startsWith(batchKey);
  return false;
}

/** Maximum difference between the provider's clock and this machine's, in milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 24 * 60 * 60 * 1000;

/** Returns true unless a batch was certainly created before a time. */
function mayBeCreatedAfter(batch: UncheckedObject, timeMs: number | undefined): boolean {
  const createdAtMs = Date.parse(readTextAt(batch, 'created_at') ?? '');
  return timeMs === undefined || !(createdAtMs < timeMs - MAX_CLOCK_DIFFERENCE_MS);
}

const COUNT_NAMES = ['processing', 'succeeded', 'errored', 'canceled', 'expired'] as const;

function countRequests(batch: UncheckedObject, ...names: (typeof COUNT_NAMES)[number][]): number {
  const counts = names.map(name => readCountAt(readValueAt(batch, 'request_counts'), name) ?? 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

function countAllRequests(batch: UncheckedObject): number {
  return countRequests(batch, ...COUNT_NAMES);
}

function readBatchState(batch: UncheckedObject): BatchState {
  const state = readTextAt(batch, 'processing_status') ?? 'unknown';
  return {
    state,
    hasEnded: state === 'ended',
    doneCount: countRequests(batch, 'succeeded'),
    failedCount: countRequests(batch, 'errored', 'canceled', 'expired'),
  };
}

function readBatchAnswer(result: unknown): BatchAnswer {
  const { type, message, error } = isJsonObject(result) ? result : {};
  if (type === 'succeeded' && isJsonObject(message)) return { body: message };
  if (type === 'expired') return { fault: 'the request expired before it was processed' };
  if (type === 'canceled') return { fault: 'the request was cancelled' };
  return { fault: `it answered with an error: ${findReason(error) ?? 'it gave no reason'}` };
}
