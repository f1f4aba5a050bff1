import type { Dispatcher } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import { InvalidRequestError, NetworkError } from './errors.ts';
import { networkFault } from './network-fault.ts';
import { shared } from './signals.ts';
import type { RequestBody, TransportRequest } from './transport.ts';

type UndiciOptions = Parameters<typeof send>[0];

/** What is known of one request while it is under way. */
export class RequestInFlight {
  readonly #request: TransportRequest;
  #sent = false;
  #abort: ((reason: Error) => void) | undefined;
  /** Runs from the first informational answer on, which undici takes for a sign of life. */
  #silence: NodeJS.Timeout | undefined;
  #bodyFault: { readonly error: unknown } | undefined;

  constructor(request: TransportRequest) {
    this.#request = request;
  }

  undiciOptions(): UndiciOptions {
    const { method, url, headers, body, signal, headersTimeoutMs, bodyTimeoutMs } = this.#request;
    const { origin, pathname, search } = new URL(url);
    const whole = typeof body === 'object' ? body.text : body;
    const streamed = typeof body === 'object' && whole === undefined;
    return {
      origin,
      path: pathname + search,
      method,
      headers: streamed ? { ...headers, 'content-length': String(body.length) } : headers,
      body: streamed ? this.#chunks(body) : whole,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      signal: shared(signal),
      onInfo: () => {
        this.#silence ??= setTimeout(() => this.#abort?.(noAnswerIn(url)), headersTimeoutMs);
      },
    };
  }

  /** To be called once an answer, or none, has come. */
  answered(): void {
    clearTimeout(this.#silence);
  }

  /** The dispatcher, noticing when the request is about to be written to a connection. */
  watch(dispatcher: Dispatcher): Pick<Dispatcher, 'dispatch'> {
    return {
      dispatch: (options, handler) => {
        const onConnect = handler.onConnect?.bind(handler);
        handler.onConnect = abort => {
          this.#abort = abort;
          // What was given up while it waited for a connection is dropped by undici now.
          if (!this.#request.signal?.aborted) this.#markSent();
          onConnect?.(abort);
        };
        return dispatcher.dispatch(options, handler);
      },
    };
  }

  /** The answer's body, its faults as this client's errors. */
  pieces(body: Dispatcher.ResponseData['body']): AsyncIterable<Uint8Array> {
    body.on('error', () => {});
    const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        return await pieces.next();
      } catch (error) {
        throw this.fault(error);
      }
    };
    const leave = (): Promise<IteratorResult<Uint8Array>> => {
      body.destroy();
      return Promise.resolve({ done: true, value: undefined });
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  fault(error: unknown): unknown {
    const { signal, url } = this.#request;
    if (signal?.aborted) return signal.reason;
    if (this.#bodyFault) return this.#bodyFault.error;
    return networkFault(error, url, !this.#sent);
  }

  #markSent(): void {
    this.#sent = true;
    this.#request.onSent?.();
  }

  async *#chunks(body: RequestBody): AsyncGenerator<Uint8Array> {
    try {
      yield* exactly(body);
    } catch (error) {
      this.#bodyFault = { error };
      throw error;
    }
  }
}

/** Informational answers (1xx) never extend a wait. */
function noAnswerIn(url: string): NetworkError {
  const { origin } = new URL(url);
  return new NetworkError(`no whole answer from ${origin}: only informational ones came in time`, {
    nothingSent: false,
  });
}

// The piece that completes the body is held back until the length is known to be right, so that a server never takes a
// wrong body for whole.
async function* exactly(body: RequestBody): AsyncGenerator<Uint8Array> {
  let left = body.length;
  let last: Uint8Array | undefined;
  for await (const chunk of body.chunks()) {
    left -= chunk.byteLength;
    if (left < 0) break;
    // undici may ask for the next piece, which may overwrite this one, before the socket has taken it.
    const piece = Buffer.from(chunk);
    if (left > 0) yield piece;
    else if (chunk.byteLength > 0) last = piece;
  }
  if (left !== 0) {
    throw new InvalidRequestError(
      `the request's body is not ${body.length} bytes long, as it said; has a file changed?`,
    );
  }
  if (last) yield last;
}
