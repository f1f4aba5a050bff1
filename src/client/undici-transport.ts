import v8 from 'node:v8';
import type { Dispatcher } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import { NetworkError } from './errors.ts';
import { networkFault } from './network-fault.ts';
import { proxySettings } from './proxy.ts';
import type {
  RequestBody,
  Transport,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from './transport.ts';

const CONNECT_TIMEOUT_MS = 10_000;

type Send = typeof send;

/** Carries requests with undici. */
export class UndiciTransport implements Transport {
  readonly #send: Send;
  readonly #kept: Dispatcher;
  readonly #single: Dispatcher;

  private constructor(send: Send, kept: Dispatcher, single: Dispatcher) {
    this.#send = send;
    this.#kept = kept;
    this.#single = single;
  }

  static async create(options: TransportOptions): Promise<UndiciTransport> {
    if (options.shortLived) useBaselineWebAssembly();
    const { default: send } = await import('undici/lib/api/api-request.js');
    const makeAgent = await agentMaker(options);
    return new UndiciTransport(send, makeAgent(), makeAgent());
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    const state = new RequestState(request);
    // A server may close a kept connection just when it is used again. A request that can't be repeated gets a
    // connection of its own, so that this never leaves it in doubt.
    const single = request.method !== 'GET';
    const dispatcher = state.watch(single ? this.#single : this.#kept);
    try {
      const response = await this.#send.call(dispatcher, state.undiciOptions(single));
      return { status: response.statusCode, headers: response.headers, body: state.pieces(response.body) };
    } catch (error) {
      throw state.fault(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#single.destroy()]);
  }
}

/** What is known of one request while it is under way. */
class RequestState {
  readonly #request: TransportRequest;
  #sent = false;
  #bodyFault: { readonly error: unknown } | undefined;

  constructor(request: TransportRequest) {
    this.#request = request;
  }

  undiciOptions(single: boolean): Parameters<Send>[0] {
    const { method, url, headers, body, signal, headersTimeoutMs, bodyTimeoutMs } = this.#request;
    const { origin, pathname, search } = new URL(url);
    return {
      origin,
      path: pathname + search,
      method,
      headers: typeof body === 'object' ? { ...headers, 'content-length': String(body.length) } : headers,
      body:
        typeof body === 'object'
          ? (this.#chunks(body) as unknown as Dispatcher.RequestOptions['body'])
          : body,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      reset: single,
      ...(signal && { signal }),
    } as Parameters<Send>[0];
  }

  /** The dispatcher, noticing when the request is about to be written to a connection. */
  watch(dispatcher: Dispatcher): Pick<Dispatcher, 'dispatch'> {
    return {
      dispatch: (options, handler) => {
        const onConnect = handler.onConnect?.bind(handler);
        handler.onConnect = abort => {
          this.#sent = true;
          this.#request.onSent?.();
          onConnect?.(abort);
        };
        return dispatcher.dispatch(options, handler);
      },
    };
  }

  /** The answer's body, its faults told as this client's. */
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
    return error instanceof NetworkError ? error : networkFault(error, url, !this.#sent);
  }

  async *#chunks(body: RequestBody): AsyncGenerator<Uint8Array> {
    try {
      yield* body.chunks();
    } catch (error) {
      this.#bodyFault = { error };
      throw error;
    }
  }
}

async function agentMaker(options: TransportOptions): Promise<() => Dispatcher> {
  const connect = { timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS };
  const proxy = proxySettings(options.proxy);
  if (proxy) {
    const { default: ProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
    return () => new ProxyAgent({ ...proxy, connect, requestTls: connect, proxyTls: connect });
  }
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return () => new Agent({ connect });
}

// On Node 20 undici's parser is compiled a second time in the background.
function useBaselineWebAssembly(): void {
  if (process.versions.node.startsWith('20.')) v8.setFlagsFromString('--liftoff-only');
}
