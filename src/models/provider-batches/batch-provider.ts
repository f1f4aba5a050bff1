import { isJsonObject, LARGEST_JSON, parseBoundedJson } from '../../wire/bounded-json.ts';
import type { HttpAnswer } from '../outgoing/request.ts';
import type { EncodedBody } from '../providers/exchange.ts';
import { ProviderFault } from '../providers/refusal.ts';
import { MAX_ANSWER_BYTES } from '../providers/send.ts';

/** One request of a batch, by the name that its answer carries. */
export interface BatchRequest {
  readonly customId: string;
  /** What the provider is asked, as its interface has it: JSON on one line. */
  readonly parameters: Uint8Array;
}

/** Small pieces are sent together, at least so many bytes at a time. */
const PIECE_BYTES = 64 * 1024;

/** Returns a body of pieces, none of which is copied before it is sent. */
export function bodyOf(contentType: string, pieces: () => Iterable<string | Uint8Array>): EncodedBody {
  let length = 0;
  for (const piece of pieces()) length += Buffer.byteLength(piece);
  return { contentType, length, pieces: gathered(pieces()) };
}

function* gathered(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const next = typeof piece === 'string' ? Buffer.from(piece) : piece;
    small.push(next);
    bytes += next.length;
    if (bytes < PIECE_BYTES) continue;
    yield* small.length === 1 ? small : [Buffer.concat(small)];
    [small, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(small);
}

/** How far a batch is. */
export interface BatchState {
  /** The provider's own word. */
  readonly state: string;
  readonly ended: boolean;
  readonly done: number;
  readonly failed: number;
  /** Why the provider refused the batch as a whole. */
  readonly fault?: string;
}

/** What came of a request: its answer as the provider gave it, or why there is none. */
export type BatchAnswer = { readonly body: Record<string, unknown> } | { readonly fault: string };

/** The requests of a batch as a file of the provider's; `id` is undefined until there is one. */
export interface Upload {
  id?: string | undefined;
  /** Called with the id of a new one before the batch is created. */
  onUploaded(id: string): Promise<void>;
}

/** The batches of one provider: requests that it answers within a day, at a lower price. */
export interface BatchProvider {
  readonly name: string;
  /** The interface that requests are made for, as the path of its address. */
  readonly interface: string;
  /** What one batch may hold. */
  readonly limits: { readonly requests: number; readonly bytes: number };
  /** Hands requests over; `key` is what the batch is found by. Gives the provider's id of it. */
  create(
    requests: readonly BatchRequest[],
    key: string,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * A batch whose creation was not answered, by its key and size; undefined if there is none, `unread` while one that may
   * be it has not ended.
   */
  find(key: string, requests: number, signal: AbortSignal): Promise<{ id: string } | 'unread' | undefined>;
  look(id: string, signal: AbortSignal): Promise<BatchState>;
  /** The answers of a batch that has ended, as they are read, in any order. */
  collect(id: string, signal: AbortSignal): AsyncGenerator<{ customId: string; answer: BatchAnswer }, void>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

/** A provider that refused something of a batch, or can't be asked. The message names it and holds no key. */
export class BatchFault extends Error {
  override readonly name = 'BatchFault';

  constructor(
    message: string,
    /** The HTTP status that it answered with; 410 for results that it no longer has; undefined if no answer came. */
    readonly status: number | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** Throws a refusal of results as a 410 if it says that they have expired. */
export function rethrowExpired(error: unknown): never {
  const { what = '', more = {} } = error instanceof ProviderFault ? error : {};
  const isAboutResults = more.status === 400 || more.status === 404;
  if (isAboutResults && (more.hasExpired === true || /\bexpired\b/i.test(what))) {
    throw new ProviderFault(what, { ...more, status: 410 });
  }
  throw error;
}

/** Of one result. */
const BOUNDS = { ...LARGEST_JSON, values: 100_000 };

/** The results in a file of lines, as they are read. A line that can't be read, or is too long, is not a result. */
export async function* resultsIn(
  response: HttpAnswer,
): AsyncGenerator<{ customId: string; result: Record<string, unknown> }> {
  for await (const line of linesOf(response)) {
    const result = parse(line);
    if (isJsonObject(result) && typeof result['custom_id'] === 'string') {
      yield { customId: result['custom_id'], result };
    }
  }
}

async function* linesOf({ body }: HttpAnswer): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  /** undefined once it is too long. */
  let line: string | undefined = '';
  for await (const chunk of body) {
    const [end = '', ...next] = decoder.decode(chunk, { stream: true }).split('\n');
    line = longer(line, end);
    for (const start of next) {
      yield line ?? '';
      line = longer('', start);
    }
  }
  yield line ?? '';
}

function longer(line: string | undefined, piece: string): string | undefined {
  return line === undefined || line.length + piece.length > MAX_ANSWER_BYTES ? undefined : line + piece;
}

function parse(line: string): unknown {
  try {
    return parseBoundedJson(line, BOUNDS);
  } catch {
    return undefined;
  }
}
