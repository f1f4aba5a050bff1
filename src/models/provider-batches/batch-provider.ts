import { isJsonObject, readTextAt, type UncheckedObject } from '../../utils/bounded-json.ts';
import { ProviderFault } from '../providers/answers/provider-fault.ts';

export interface BatchRequest {
  /** The id that its result carries. */
  readonly customId: string;
  /** The body of the request as JSON on one line. */
  readonly parameters: Uint8Array;
}

export interface BatchState {
  /** The provider's own name of the state. */
  readonly state: string;
  readonly hasEnded: boolean;
  readonly doneCount: number;
  readonly failedCount: number;
  /** The reason that the provider refused the batch as a whole. */
  readonly fault?: string;
}

/** The result of a request: the provider's answer, or why there is none. */
export type BatchAnswer = { readonly body: Record<string, unknown> } | { readonly fault: string };

/** The upload of a batch's requests as a file. */
export interface Upload {
  /** The id of the file; undefined before the upload. */
  id?: string | undefined;
  /** Called with the id of the file before the batch is created. */
  onUploaded(id: string): Promise<void>;
}

/** The facts that identify a batch. */
export interface BatchSearch {
  readonly batchKey: string;
  /** The earliest time of its creation, in milliseconds since 1970; any time by default. */
  readonly createdAfterMs?: number | undefined;
  readonly requestCount: number;
  /** The id of the uploaded file of its requests. */
  readonly fileId?: string | undefined;
}

/** The batches of a provider, which it answers within a day at a lower price. */
export interface BatchProvider {
  readonly name: string;
  /** The path of the interface that the requests are for. */
  readonly endpoint: string;
  /** The maximum size of a batch. */
  readonly limits: { readonly requests: number; readonly bytes: number };
  /** Creates a batch, which `find` can identify by its key. Returns the provider's id. */
  create(
    requests: readonly BatchRequest[],
    batchKey: string,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Finds a batch whose creation got no response. Returns undefined if there is none, and `unread`
   * if one that has not ended may be it. One whose results have expired counts as the batch if no
   * other one is it: to create it again would pay twice.
   */
  find(search: BatchSearch, signal: AbortSignal): Promise<{ id: string } | 'unread' | undefined>;
  readState(id: string, signal: AbortSignal): Promise<BatchState>;
  /** Yields the answers of a batch that has ended, in any order. */
  collect(
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ customId: string; answer: BatchAnswer }, void>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

/** A failed request about a batch. The message names the provider and holds no key. */
export class BatchFault extends Error {
  override readonly name = 'BatchFault';

  constructor(
    message: string,
    /** The HTTP status; 410 if the results have expired, undefined without a response. */
    readonly status: number | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** Rethrows an error. One that says that the results have expired gets the status 410. */
export function rethrowExpired(error: unknown): never {
  if (!(error instanceof ProviderFault)) throw error;
  const { message, details } = error;
  const isAboutResults = details.status === 400 || details.status === 404;
  if (isAboutResults && (details.hasExpired === true || /\bexpired\b/i.test(message))) {
    throw new ProviderFault(message, { ...details, status: 410 });
  }
  throw error;
}

/** Maximum number of pages that are read of a provider's list. */
const MAX_BATCH_PAGES = 10_000;

/**
 * Yields all batches of the account, page by page.
 *
 * @param fetchPage returns the page after the batch with this id; the first page if it is empty
 * @throws {ProviderFault} if the list can't be read to its end, since a batch that is not seen
 * would be created again
 */
export async function* iterateBatches(
  fetchPage: (afterId: string) => Promise<UncheckedObject>,
): AsyncGenerator<UncheckedObject, void> {
  let lastId: string | undefined = '';
  for (let pageCount = 0; pageCount < MAX_BATCH_PAGES && lastId !== undefined; pageCount += 1) {
    const { data, has_more: hasMore } = await fetchPage(lastId);
    if (!Array.isArray(data) || !data.every(isJsonObject)) {
      throw createUnreadableListFault('is not a list of batches');
    }
    yield* data;
    if (hasMore !== true) return;
    lastId = readTextAt(data.at(-1), 'id');
  }
  throw createUnreadableListFault('does not end');
}

function createUnreadableListFault(predicate: string): ProviderFault {
  return new ProviderFault(`answered with a list of its batches that ${predicate}`);
}
