import type { Dispatcher } from 'undici';
import { FRESH, openAgent } from '../../net/agent.ts';

export const CONNECT_TIMEOUT_MS = 30_000;

/** Connections to providers, which serve one request after the other as long as none can be stale. */
export class Connections {
  readonly #agents = new Map<string, Promise<Dispatcher>>();
  readonly #stopped: AbortSignal | undefined;

  /** @param stopped closes all connections when aborted; by default only those that are idle are closed */
  constructor(stopped?: AbortSignal) {
    this.#stopped = stopped;
  }

  /** Returns the dispatcher of the connections that tunnel through a proxy, or of the direct ones. */
  through(proxy: URL | undefined): Promise<Dispatcher> {
    const key = proxy?.href ?? 'direct';
    const known = this.#agents.get(key);
    if (known) return known;
    const signal = this.#stopped;
    const agent = openAgent({ proxy, connectTimeoutMs: CONNECT_TIMEOUT_MS, keepAlive: FRESH, signal });
    this.#agents.set(key, agent);
    return agent;
  }
}
