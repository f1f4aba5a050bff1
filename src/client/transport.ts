import type { ProxyVariables } from '../net/proxy.ts';

/** A request body of known length that is produced while it is sent. */
export interface RequestBody {
  /** The length in bytes, sent as `Content-Length`. */
  readonly length: number;
  /**
   * Yields the pieces; each is valid until the next is requested. Called for each attempt, so it
   * must start from the beginning.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** The whole body if it is in memory, which is faster to send than pieces. */
  readonly text?: string;
}

/** One HTTP request, ready to be sent. */
export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody | string | undefined;
  /** Aborts the request, and the reading of its answer, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum silence between the last byte of the request and the headers of the answer. */
  readonly headersTimeoutMs: number;
  /** Maximum silence between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number;
  /**
   * True if sending the request twice does no harm; false by default. Other requests never use a
   * connection that has been idle for so long that the server may be closing it.
   */
  readonly repeatable?: boolean;
  /** Called just before the request is written to an open connection. */
  readonly onSent?: () => void;
}

/** An answer whose body has not been read yet. */
export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: AnswerHeaders;
  /** The caller must read it to the end or call `return`; otherwise the connection stays open. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP client that sends requests; replaceable. */
export interface Transport {
  /** @throws {NetworkError} if no answer came; the signal's reason if it was aborted */
  request(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Returns true if the transport itself serves a media URL, which is then fetched whatever its
   * scheme; default: none.
   */
  readonly owns?: (url: URL) => boolean;
  /** Closes every connection; the transport can't be used afterwards. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** The proxies to use, from the environment variables of these names; none by default. */
  readonly proxy?: ProxyVariables;
  /**
   * True if the process ends after a few requests; false by default. On Node 20, V8 then doesn't
   * optimise WebAssembly in this process, which would delay its end by some 30 ms.
   */
  readonly shortLived?: boolean;
  /** Maximum time to connect, in milliseconds; 10 s by default. */
  readonly connectTimeoutMs?: number;
}

/** Discards the body of an answer. */
export async function discardBody({ body }: TransportResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/**
 * Returns `pieces`, a generator that reads the answer's body, so that `return` closes the body too.
 */
export function readThrough(
  response: TransportResponse,
  pieces: AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  // `return` on a generator that never started would not close its source.
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    await discardBody(response);
    await pieces.return(undefined);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }) };
}
