import type { ProxyVariables } from '../net/proxy.ts';

/** A request body of known length that is produced while it is sent. */
export interface RequestBody {
  /** In bytes; sent as `Content-Length`. */
  readonly length: number;
  /** The pieces, each good until the next is asked for. Called once for each try, so it must be able to start again. */
  chunks(): AsyncIterable<Uint8Array>;
  /** The whole of it where it is at hand, which is sent faster than pieces. */
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
  /** Longest silence between the last byte of the request and the headers of the answer. */
  readonly headersTimeoutMs: number;
  /** Longest silence between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number;
  /**
   * Whether it does no harm to send the same request again. Any other one never goes over a connection that was idle
   * for so long that the server may be closing it. False by default.
   */
  readonly repeatable?: boolean;
  /** Called when a connection stands and the request is about to be written to it. */
  readonly onSent?: () => void;
}

/** An answer whose body has not been read yet. */
export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: AnswerHeaders;
  /** Must be read to its end or left with `return`, or the connection stays open. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What carries requests; may be replaced by any other HTTP client. */
export interface Transport {
  /** @throws {NetworkError} where no answer came; the signal's reason where it was aborted */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Whether a URL of media is this transport's own, and so fetched whatever its scheme; none is by default. */
  readonly owns?: (url: URL) => boolean;
  /** Drops every connection; the transport can't be used any more. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Proxies as the environment variables of these names give them: http and https ones; none by default. */
  readonly proxy?: ProxyVariables;
  /**
   * The process ends after a few requests: instructs V8, for the whole process and on Node 20 only, not to optimise
   * WebAssembly, which would hold up its end by some 30 ms. False by default.
   */
  readonly shortLived?: boolean;
  /** How long a connection may take to be made, in milliseconds; 10 s by default. */
  readonly connectTimeoutMs?: number;
}

/** Drops an answer whose body is not wanted. */
export async function leave({ body }: TransportResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/** The body of an answer as a generator that reads it gives it; left with `return`, both are. */
export function readThrough(
  response: TransportResponse,
  pieces: AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  // A generator that was never started would not end its source.
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    await leave(response);
    await pieces.return(undefined);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }) };
}
