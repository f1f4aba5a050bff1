import v8 from 'node:v8';
import type { Dispatcher } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import { loadProxyAgents, proxySettings } from './proxy.ts';
import { abortable } from './signals.ts';
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport.ts';
import { RequestInFlight } from './undici-request.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A server may close a connection just when it is used again, which leaves the request in doubt. One that was used
 * within the last second, and is to be kept for a second more as its server says, is as good as new.
 */
const FRESH = { keepAliveTimeout: 1000, keepAliveMaxTimeout: 1000, keepAliveTimeoutThreshold: 1000 };

/** The HTTP client that is used where none is given: undici, loaded now. Redirects are not followed. */
export async function createTransport(options: TransportOptions = {}): Promise<Transport> {
  const { default: request } = await import('undici/lib/api/api-request.js');
  const agent = await agentMaker(options);
  const endBaseline = options.shortLived ? useBaselineWebAssembly() : () => {};
  return new UndiciTransport(request, agent({}), agent(FRESH), endBaseline);
}

class UndiciTransport implements Transport {
  readonly #send: typeof send;
  /** Keeps idle connections for as long as their server does. */
  readonly #kept: Dispatcher;
  /** Keeps them for so short a time that none is stale. */
  readonly #fresh: Dispatcher;
  readonly #onClose: () => void;

  constructor(request: typeof send, kept: Dispatcher, fresh: Dispatcher, onClose: () => void) {
    this.#send = request;
    this.#kept = kept;
    this.#fresh = fresh;
    this.#onClose = onClose;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    const inFlight = new RequestInFlight(request);
    const dispatcher = inFlight.watch(request.repeatable ? this.#kept : this.#fresh);
    try {
      const answering = this.#send.call(dispatcher, inFlight.undiciOptions());
      // undici itself notices an abort only once a connection stands.
      const { statusCode, headers, body } = await abortable(answering, request.signal, late => {
        late.body.on('error', () => {}).destroy();
      });
      return { status: statusCode, headers, body: inFlight.pieces(body) };
    } catch (error) {
      throw inFlight.fault(error);
    } finally {
      inFlight.answered();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
    this.#onClose();
  }
}

async function agentMaker(
  options: TransportOptions,
): Promise<(keepAlive: Partial<typeof FRESH>) => Dispatcher> {
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const proxy = proxySettings(options.proxy);
  if (proxy) return loadProxyAgents(proxy, connectTimeoutMs);
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return keepAlive => new Agent({ ...keepAlive, connect: { timeout: connectTimeoutMs } });
}

// On Node 20 undici's parser is compiled a second time in the background. Code compiled under other flags than V8 starts
// with can't be kept for the next start, so the flags are put back at the end: the one given, and the two it turns off.
function useBaselineWebAssembly(): () => void {
  if (!process.versions.node.startsWith('20.')) return () => {};
  v8.setFlagsFromString('--liftoff-only');
  return () => v8.setFlagsFromString('--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering');
}
