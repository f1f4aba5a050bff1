import path from 'node:path';
import type { Model, Resources } from '../../../wire/index.ts';
import type { Clock } from '../../core/types.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { JsonFile } from '../json-file.ts';
import {
  isSendable,
  parseEntries,
  RESOURCES_FILE,
  type ResourceEntry,
  wellFormedModels,
  withEntry,
} from './resource-entries.ts';

/** How long the refresh that a service asked for may take, in milliseconds. */
const SETTLE_TIMEOUT_MS = 5000;

export interface FetchLimits {
  readonly timeoutMs?: number;
  /** 0 tries once. */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

export interface ResourceCacheOptions {
  /** The configuration directory. */
  readonly directory: string;
  /** The base URL, or `local` for the embedded service (see `Connection.service`). */
  readonly service: string;
  /** `resourceScope(baseUrl, apiKey)`, or `LOCAL_SCOPE` for the embedded service. */
  readonly scope: string;
  /** `GET /resources`, without reporting a wish for a refresh that its own answer may carry. */
  readonly fetch: (limits: FetchLimits) => Promise<Resources>;
  readonly clock: Clock;
  /** For `--debug`: refreshes that failed, files that can't be written. */
  readonly onProblem?: (message: string) => void;
}

/** The cached models of a service, and the hash by which the service knows them. */
export class ResourceCache {
  readonly #options: ResourceCacheOptions;
  readonly #stored: JsonFile<{ services: ResourceEntry[] }>;
  #cached: { readonly entry: ResourceEntry | undefined } | undefined;
  #refreshWanted = false;
  #isKept = true;

  constructor(options: ResourceCacheOptions) {
    this.#options = options;
    const file = path.join(options.directory, RESOURCES_FILE);
    const parse = (document: object) => ({ services: parseEntries(document) });
    this.#stored = new JsonFile(file, options.clock, parse, true);
  }

  /** The hash to send with each request; undefined while none is cached. */
  cachedHash(): string | undefined {
    const hash = this.cached()?.hash;
    return hash !== undefined && isSendable(hash) ? hash : undefined;
  }

  /** False once what was fetched could not be written, so that the next process fetches it again. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** What is cached, read once and without loading anything. */
  cached(): ResourceEntry | undefined {
    this.#cached ??= {
      entry: this.#stored.read().services.find(entry => entry.scope === this.#options.scope),
    };
    return this.#cached.entry;
  }

  /** The cached models; fetched where there are none yet, or with `refresh`. */
  async models(options: { refresh?: boolean; signal?: AbortSignal } = {}): Promise<Model[]> {
    const cached = this.cached();
    if (cached !== undefined && options.refresh !== true) return wellFormedModels(cached.models);
    const fetched = await this.refresh(options.signal === undefined ? {} : { signal: options.signal });
    return wellFormedModels(fetched.resources.models);
  }

  /** Fetches the models and keeps them; gives the service's answer as it came. */
  async refresh(limits: FetchLimits = {}): Promise<Resources> {
    const answer = await this.#options.fetch(limits);
    await this.#keep(answer);
    this.#refreshWanted = false;
    return answer;
  }

  /** An answer carried `action-require`. */
  noteActionRequired(): void {
    this.#refreshWanted = true;
  }

  /** Does the refresh the service asked for, once the command's result is out: one try of at most 5 s, never a fault. */
  async settle(signal?: AbortSignal): Promise<void> {
    if (!this.#refreshWanted) return;
    this.#refreshWanted = false;
    const limit = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
    try {
      await this.refresh({
        timeoutMs: SETTLE_TIMEOUT_MS,
        retries: 0,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
    } catch (error) {
      this.#options.onProblem?.(`models could not be refreshed: ${oneLine(String(error))}`);
    }
  }

  async #keep(answer: Resources): Promise<void> {
    const entry: ResourceEntry = {
      scope: this.#options.scope,
      service: this.#options.service,
      hash: answer.hash,
      models: answer.resources.models,
      fetchedAt: new Date(this.#options.clock.now()).toISOString(),
    };
    this.#cached = { entry };
    try {
      await this.#stored.update(kept => {
        kept.services = withEntry(kept.services, entry);
      });
    } catch (error) {
      this.#isKept = false;
      this.#options.onProblem?.(`models are not kept in ${this.#stored.path}: ${oneLine(String(error))}`);
    }
  }
}
