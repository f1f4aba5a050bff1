import v8 from 'node:v8';
import type { Dispatcher } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import {
  explainConnectionFault,
  findFaultCode,
  getFaultMessage,
  isCertificateFault,
  ProxyFault,
} from '../../net/connection-fault.ts';
import { type AgentOptions, openAgent } from '../../net/http-agent.ts';
import {
  checkProxies,
  findProxy,
  ProxySettingError,
  type ProxyVariables,
} from '../../net/proxy.ts';
import { rejectWhenAborted, withoutListenerLimit } from '../../utils/abort-signals.ts';
import { InvalidRequestError, NetworkError, PromptServiceError } from '../errors.ts';
import type {
  RequestBody,
  Transport,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from '../transport.ts';

const SERVICE_CONNECT_TIMEOUT_MS = 10_000;

/**
 * A server may close an idle connection just as a request is written to it, which leaves the
 * request in doubt. A connection used within the last second, and kept for at least one more second
 * by its server, is as good as new.
 */
const FRESH_CONNECTIONS = {
  keepAliveTimeout: 1000,
  keepAliveMaxTimeout: 1000,
  keepAliveTimeoutThreshold: 1000,
};

/**
 * Loads undici and returns the default transport. Redirects are not followed.
 *
 * @throws {InvalidRequestError} for a proxy that can't be used
 */
export async function createTransport(options: TransportOptions = {}): Promise<Transport> {
  const { proxy = {}, connectTimeoutMs = SERVICE_CONNECT_TIMEOUT_MS } = options;
  checkProxySettings(proxy);
  const { default: request } = await import('undici/lib/api/api-request.js');
  const restoreCompilerFlags = options.shortLived ? useBaselineWebAssembly() : () => {};
  const reused = new AgentPool(proxy, { connectTimeoutMs });
  const fresh = new AgentPool(proxy, { connectTimeoutMs, keepAlive: FRESH_CONNECTIONS });
  return new UndiciTransport(request, reused, fresh, restoreCompilerFlags);
}

class UndiciTransport implements Transport {
  readonly #send: typeof send;
  /** Keeps idle connections as long as their servers do. */
  readonly #reused: AgentPool;
  /** Keeps idle connections too briefly for any to be stale. */
  readonly #fresh: AgentPool;
  readonly #onClose: () => void;

  constructor(
    sendRequest: typeof send,
    reusedAgents: AgentPool,
    freshAgents: AgentPool,
    onClose: () => void,
  ) {
    this.#send = sendRequest;
    this.#reused = reusedAgents;
    this.#fresh = freshAgents;
    this.#onClose = onClose;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    const inFlight = new RequestInFlight(request);
    try {
      const pool = request.repeatable ? this.#reused : this.#fresh;
      const agent = await pool.open(new URL(request.url));
      const answer = this.#send.call(inFlight.watchDispatch(agent), inFlight.buildUndiciOptions());

      // undici itself notices an abort only once it is connected.
      const { statusCode, headers, body } = await rejectWhenAborted(
        answer,
        request.signal,
        lateAnswer => {
          lateAnswer.body.on('error', () => {}).destroy();
        },
      );
      return { status: statusCode, headers, body: inFlight.readBody(body) };
    } catch (error) {
      throw inFlight.toError(error);
    } finally {
      inFlight.stopWaiting();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#reused.close(), this.#fresh.close()]);
    this.#onClose();
  }
}

/** One agent for direct connections and one for each proxy, opened when first needed. */
class AgentPool {
  readonly #proxies: ProxyVariables;
  readonly #options: AgentOptions;
  readonly #agents = new Map<string, Promise<Dispatcher>>();

  constructor(proxies: ProxyVariables, options: AgentOptions) {
    this.#proxies = proxies;
    this.#options = options;
  }

  open(url: URL): Promise<Dispatcher> {
    const proxy = findProxy(url, this.#proxies);
    const proxyUrl = proxy?.href ?? '';
    const agent = this.#agents.get(proxyUrl) ?? openAgent({ ...this.#options, proxy });
    this.#agents.set(proxyUrl, agent);
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map(async agent => (await agent).destroy()));
  }
}

function checkProxySettings(proxies: ProxyVariables): void {
  try {
    checkProxies(proxies);
  } catch (error) {
    throw error instanceof ProxySettingError
      ? new InvalidRequestError(error.message, { cause: error })
      : error;
  }
}

// Node 20 compiles undici's parser a second time in the background. Compiled code can be cached
// only under V8's initial flags, so the flag that is set here, and the two that it turns off, are
// restored at the end.
function useBaselineWebAssembly(): () => void {
  if (!process.versions.node.startsWith('20.')) return () => {};
  v8.setFlagsFromString('--liftoff-only');
  return () => v8.setFlagsFromString('--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering');
}

type UndiciOptions = Parameters<typeof send>[0];

/** The state of one request while it is in flight. */
class RequestInFlight {
  readonly #request: TransportRequest;
  #isSent = false;
  #abort: ((reason: Error) => void) | undefined;
  /** Started by the first informational answer, which undici takes for a sign of life. */
  #silenceTimer: NodeJS.Timeout | undefined;
  #bodyFault: { readonly error: unknown } | undefined;

  constructor(request: TransportRequest) {
    this.#request = request;
  }

  buildUndiciOptions(): UndiciOptions {
    const { method, url, headers, body, signal, headersTimeoutMs, bodyTimeoutMs } = this.#request;
    const { origin, pathname, search } = new URL(url);
    const bodyText = typeof body === 'object' ? body.text : body;
    const isStreamed = typeof body === 'object' && bodyText === undefined;

    return {
      origin,
      path: pathname + search,
      method,
      headers: isStreamed ? { ...headers, 'content-length': String(body.length) } : headers,
      body: isStreamed ? this.#readChunks(body) : bodyText,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      signal: withoutListenerLimit(signal),
      onInfo: () => {
        this.#silenceTimer ??= setTimeout(
          () => this.#abort?.(noAnswerError(url)),
          headersTimeoutMs,
        );
      },
    };
  }

  /** Ends the wait for the answer, which has come or failed. */
  stopWaiting(): void {
    clearTimeout(this.#silenceTimer);
  }

  /** Wraps the dispatcher to notice when the request is about to be written to a connection. */
  watchDispatch(dispatcher: Dispatcher): Pick<Dispatcher, 'dispatch'> {
    return {
      dispatch: (options, handler) => {
        const onConnect = handler.onConnect?.bind(handler);
        handler.onConnect = abort => {
          this.#abort = abort;
          // undici drops a request here if it was aborted while it waited for a connection.
          if (!this.#request.signal?.aborted) this.#markSent();
          onConnect?.(abort);
        };
        return dispatcher.dispatch(options, handler);
      },
    };
  }

  /** Returns the answer's body with its faults as errors of this client. */
  readBody(body: Dispatcher.ResponseData['body']): AsyncIterable<Uint8Array> {
    body.on('error', () => {});
    const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        return await pieces.next();
      } catch (error) {
        throw this.toError(error);
      }
    };

    const close = (): Promise<IteratorResult<Uint8Array>> => {
      body.destroy();
      return Promise.resolve({ done: true, value: undefined });
    };

    return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
  }

  toError(error: unknown): unknown {
    const { signal, url } = this.#request;
    if (signal?.aborted) return signal.reason;
    if (this.#bodyFault) return this.#bodyFault.error;
    return toNetworkError(error, url, { nothingSent: !this.#isSent });
  }

  #markSent(): void {
    this.#isSent = true;
    this.#request.onSent?.();
  }

  async *#readChunks(body: RequestBody): AsyncGenerator<Uint8Array> {
    try {
      yield* readExactBytes(body);
    } catch (error) {
      this.#bodyFault = { error };
      throw error;
    }
  }
}

/**
 * Returns the error for a server that sends only informational answers (1xx), which never extend a
 * wait.
 */
function noAnswerError(url: string): NetworkError {
  const { origin } = new URL(url);
  return new NetworkError(
    `no complete answer from ${origin}: only informational responses came in time`,
    {
      nothingSent: false,
    },
  );
}

// Holds the last piece back until the length has proved right, so that a server never takes a wrong
// body for complete.
async function* readExactBytes(body: RequestBody): AsyncGenerator<Uint8Array> {
  let remainingBytes = body.length;
  let lastPiece: Uint8Array | undefined;
  for await (const chunk of body.chunks()) {
    remainingBytes -= chunk.byteLength;
    if (remainingBytes < 0) break;
    // A copy, because undici may request the next piece, which may overwrite this one, before the
    // socket has taken it.
    const piece = Buffer.from(chunk);
    if (remainingBytes > 0) yield piece;
    else if (chunk.byteLength > 0) lastPiece = piece;
  }

  if (remainingBytes !== 0) {
    throw new InvalidRequestError(
      `the request's body does not have the announced ${body.length} bytes; has a file changed?`,
    );
  }

  if (lastPiece) yield lastPiece;
}

/** Returns the error for a failed connection; it names the origin, the cause and its code. */
function toNetworkError(
  error: unknown,
  url: string,
  { nothingSent }: { readonly nothingSent: boolean },
): PromptServiceError {
  if (error instanceof PromptServiceError) return error;

  const { origin } = new URL(url);
  if (error instanceof ProxyFault) {
    const { proxyHost, reason, isRetryable } = error;
    const message = `can't connect to ${origin} through the proxy ${proxyHost}: ${reason}`;
    return new NetworkError(message, {
      nothingSent: true,
      mayPass: isRetryable,
      cause: error.cause,
    });
  }

  if (findFaultCode(error) === 'UND_ERR_INVALID_ARG') {
    return new InvalidRequestError(getFaultMessage(error), { cause: error });
  }

  const failure = nothingSent ? `can't connect to ${origin}` : `no complete answer from ${origin}`;
  return new NetworkError(`${failure}: ${explainConnectionFault(error)}`, {
    nothingSent,
    mayPass: !isCertificateFault(error),
    cause: error,
  });
}
