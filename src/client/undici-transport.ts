import v8 from 'node:v8';
import type { Dispatcher } from 'undici';
import type send from 'undici/lib/api/api-request.js';
import { type AgentOptions, openAgent } from '../net/agent.ts';
import { checkProxies, ProxySettingError, type ProxyVariables, proxyFor } from '../net/proxy.ts';
import { InvalidRequestError } from './errors.ts';
import { abortable } from './signals.ts';
import type { Transport, TransportOptions, TransportRequest, TransportResponse } from './transport.ts';
import { RequestInFlight } from './undici-request.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A server may close a connection just when it is used again, which leaves the request in doubt. One that was used
 * within the last second, and is to be kept for a second more as its server says, is as good as new.
 */
const FRESH = { keepAliveTimeout: 1000, keepAliveMaxTimeout: 1000, keepAliveTimeoutThreshold: 1000 };

/**
 * The HTTP client that is used where none is given: undici, loaded now. Redirects are not followed.
 *
 * @throws {InvalidRequestError} for a proxy that can't be used
 */
export async function createTransport(options: TransportOptions = {}): Promise<Transport> {
  const { proxy = {}, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  refuseBadProxies(proxy);
  const { default: request } = await import('undici/lib/api/api-request.js');
  const endBaseline = options.shortLived ? useBaselineWebAssembly() : () => {};
  const kept = new Agents(proxy, { connectTimeoutMs });
  const fresh = new Agents(proxy, { connectTimeoutMs, keepAlive: FRESH });
  return new UndiciTransport(request, kept, fresh, endBaseline);
}

class UndiciTransport implements Transport {
  readonly #send: typeof send;
  /** Keeps idle connections for as long as their server does. */
  readonly #kept: Agents;
  /** Keeps them for so short a time that none is stale. */
  readonly #fresh: Agents;
  readonly #onClose: () => void;

  constructor(request: typeof send, kept: Agents, fresh: Agents, onClose: () => void) {
    this.#send = request;
    this.#kept = kept;
    this.#fresh = fresh;
    this.#onClose = onClose;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    const inFlight = new RequestInFlight(request);
    try {
      const agent = await (request.repeatable ? this.#kept : this.#fresh).of(new URL(request.url));
      const answering = this.#send.call(inFlight.watch(agent), inFlight.undiciOptions());
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
    await Promise.all([this.#kept.close(), this.#fresh.close()]);
    this.#onClose();
  }
}

/** One agent for direct connections and one for each proxy, opened when first needed. */
class Agents {
  readonly #proxies: ProxyVariables;
  readonly #options: AgentOptions;
  readonly #opened = new Map<string, Promise<Dispatcher>>();

  constructor(proxies: ProxyVariables, options: AgentOptions) {
    this.#proxies = proxies;
    this.#options = options;
  }

  of(url: URL): Promise<Dispatcher> {
    const proxy = proxyFor(url, this.#proxies);
    const name = proxy?.href ?? '';
    const agent = this.#opened.get(name) ?? openAgent({ ...this.#options, proxy });
    this.#opened.set(name, agent);
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(async agent => (await agent).destroy()));
  }
}

function refuseBadProxies(proxies: ProxyVariables): void {
  try {
    checkProxies(proxies);
  } catch (error) {
    throw error instanceof ProxySettingError
      ? new InvalidRequestError(error.message, { cause: error })
      : error;
  }
}

// On Node 20 undici's parser is compiled a second time in the background. Code compiled under other flags than V8 starts
// with can't be kept for the next start, so the flags are put back at the end: the one given, and the two it turns off.
function useBaselineWebAssembly(): () => void {
  if (!process.versions.node.startsWith('20.')) return () => {};
  v8.setFlagsFromString('--liftoff-only');
  return () => v8.setFlagsFromString('--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering');
}
