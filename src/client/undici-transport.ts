import v8 from 'node:v8';
import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import { proxySettings } from './proxy.ts';
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport.ts';
import { RequestInFlight } from './undici-request.ts';

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
    const inFlight = new RequestInFlight(request);
    // A server may close a kept connection just when it is used again. A request that can't be repeated gets a
    // connection of its own, so that this never leaves it in doubt.
    const single = request.method !== 'GET';
    const dispatcher = inFlight.watch(single ? this.#single : this.#kept);
    try {
      const response = await this.#send.call(dispatcher, inFlight.undiciOptions(single));
      return { status: response.statusCode, headers: response.headers, body: inFlight.pieces(response.body) };
    } catch (error) {
      throw inFlight.fault(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#single.destroy()]);
  }
}

async function agentMaker(options: TransportOptions): Promise<() => Dispatcher> {
  const connect = { timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS };
  const proxy = proxySettings(options.proxy);
  if (proxy) {
    const ProxyAgent = await loadProxyAgent();
    return () => new ProxyAgent({ ...proxy, connect, requestTls: connect, proxyTls: connect });
  }
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return () => new Agent({ connect });
}

// The proxy agent makes its tunnels with a method that only the whole of undici would have put in place.
async function loadProxyAgent(): Promise<typeof EnvHttpProxyAgent> {
  const [{ default: ProxyAgent }, { default: Base }, { default: tunnel }] = await Promise.all([
    import('undici/lib/dispatcher/env-http-proxy-agent.js'),
    import('undici/lib/dispatcher/dispatcher.js'),
    import('undici/lib/api/api-connect.js'),
  ]);
  Base.prototype.connect = tunnel;
  return ProxyAgent;
}

// On Node 20 undici's parser is compiled a second time in the background.
function useBaselineWebAssembly(): void {
  if (process.versions.node.startsWith('20.')) v8.setFlagsFromString('--liftoff-only');
}
