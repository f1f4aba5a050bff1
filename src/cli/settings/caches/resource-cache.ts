import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { withTimeout } from '../../../utils/abort-signals.ts';
import { isJsonObject, readListAt, type UncheckedObject } from '../../../utils/bounded-json.ts';
import type { Model, Resources, RunOption } from '../../../wire/index.ts';
import type { Clock } from '../../core/clock.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import {
  type AddressSources,
  getServiceKey,
  resolveAddress,
  resolveKey,
} from '../config/address.ts';
import { JsonFile, readCacheFile } from '../json-file.ts';

/** Time limit of a refresh that a service asked for, in milliseconds. */
const REQUESTED_REFRESH_TIMEOUT_MS = 5000;

/**
 * Minimum time between refreshes that a service asks for if it understands no form of `cli-agent`,
 * in milliseconds.
 */
const MIN_REFRESH_INTERVAL_MS = 3_600_000;

/**
 * Matches a hash that can be sent as a header; a line break in it would forge another header.
 */
const SENDABLE_HASH = /^[\u0021-\u007e]{1,1024}$/u;

export interface FetchLimits {
  readonly timeoutMs?: number;
  /** Number of retries; 0 sends one request. */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

export interface ResourceCacheOptions {
  readonly directory: string;
  /** `computeResourceScope(baseUrl, apiKey)`, or `LOCAL_SCOPE` for the embedded service. */
  readonly scope: string;
  /** Sends `GET /resources` and ignores `action-require` in its answer. */
  readonly fetch: (limits: FetchLimits) => Promise<Resources>;
  readonly clock: Clock;
  /** Called with failed refreshes, and with files that can't be written. */
  readonly onProblem: (message: string) => void;
}

export const RESOURCES_FILE_NAME = 'resources.json';

/** Caches the models of a service and their hash. */
export class ResourceCache {
  readonly #options: ResourceCacheOptions;
  readonly #file: string;
  #cached: { readonly entry: ResourceEntry | undefined } | undefined;
  #isRefreshRequested = false;
  #isPersisted = true;

  constructor(options: ResourceCacheOptions) {
    this.#options = options;
    this.#file = path.join(options.directory, RESOURCES_FILE_NAME);
  }

  /**
   * Returns the `cli-agent` header: the hash in the form that the service understands; undefined if
   * none is cached.
   */
  getCliAgent(): string | undefined {
    const { hash = '', agentForm } = this.getCached() ?? {};
    if (!SENDABLE_HASH.test(hash)) return undefined;
    return agentForm === 'named' ? `resources_hash=${hash}` : hash;
  }

  /** False if the cache could not be written, so that the next process has to fetch again. */
  get isPersisted(): boolean {
    return this.#isPersisted;
  }

  /** Returns the cached entry; reads the file once. */
  getCached(): ResourceEntry | undefined {
    this.#cached ??= { entry: readEntry(this.#file, this.#options.scope) };
    return this.#cached.entry;
  }

  /** Returns the cached models; fetches them if there are none, or with `refresh`. */
  async getModels({
    refresh = false,
    ...limits
  }: FetchLimits & { refresh?: boolean } = {}): Promise<Model[]> {
    const cachedEntry = refresh ? undefined : this.getCached();
    return pickWellFormedModels(
      cachedEntry?.models ?? (await this.refresh(limits)).resources.models,
    );
  }

  /** Fetches and caches the models; returns the service's answer unchanged. */
  async refresh(limits: FetchLimits = {}): Promise<Resources> {
    const oldEntry = this.getCached();
    const answer = await this.#options.fetch(limits);

    // A service that asks for a refresh and returns the hash that it was sent did not understand
    // the header.
    const isMisunderstood = this.#isRefreshRequested && oldEntry?.hash === answer.hash;
    const agentForm = isMisunderstood ? getOtherForm(oldEntry) : oldEntry?.agentForm;
    this.#isRefreshRequested = false;

    await this.#store({
      scope: this.#options.scope,
      hash: answer.hash,
      models: answer.resources.models,
      fetchedAt: new Date(this.#options.clock.now()).toISOString(),
      ...(agentForm !== undefined && { agentForm }),
    });

    return answer;
  }

  /**
   * Records `action-require` in an answer; at most once an hour for a service that understands no
   * form of `cli-agent`.
   */
  recordActionRequired(): void {
    const { agentForm, fetchedAt = '' } = this.getCached() ?? {};
    const isTooSoon = this.#options.clock.now() - Date.parse(fetchedAt) < MIN_REFRESH_INTERVAL_MS;
    this.#isRefreshRequested = agentForm !== 'neither' || !isTooSoon;
  }

  /**
   * Refreshes if the service asked for it, after the command's result is out: one request of at
   * most 5 s, never a fault.
   *
   * @param timeLeftMs ends the request earlier; default unlimited
   */
  async refreshIfRequested(
    signal?: AbortSignal,
    timeLeftMs = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    if (!this.#isRefreshRequested) return;
    const timeoutMs = Math.min(REQUESTED_REFRESH_TIMEOUT_MS, timeLeftMs);
    try {
      await withTimeout(timeoutMs, signal, limitedSignal =>
        this.refresh({ timeoutMs, retries: 0, signal: limitedSignal }),
      );
    } catch (error) {
      this.#isRefreshRequested = false;
      this.#options.onProblem(`models could not be refreshed: ${toOneLine(String(error))}`);
    }
  }

  async #store(entry: ResourceEntry): Promise<void> {
    this.#cached = { entry };
    try {
      await writeEntry(this.#file, entry, this.#options.clock);
    } catch (error) {
      this.#isPersisted = false;
      this.#options.onProblem(`models are not kept in ${this.#file}: ${toOneLine(String(error))}`);
    }
  }
}

/** Returns the form to try after the current one was not understood. */
function getOtherForm({ agentForm }: ResourceEntry): 'named' | 'neither' {
  return agentForm === undefined ? 'named' : 'neither';
}

/** The models of one service as one account sees them. */
export interface ResourceEntry {
  /** The base URL and key fingerprint; see `computeResourceScope`. */
  readonly scope: string;
  /** The hash as the service sent it. */
  readonly hash: string;
  /** The models as the service sent them. */
  readonly models: readonly unknown[];
  /** ISO 8601. */
  readonly fetchedAt: string;
  /**
   * The form of `cli-agent` that the service understands: `named` is `resources_hash=<hash>`,
   * `neither` no known form; undefined is the bare hash.
   */
  readonly agentForm?: 'named' | 'neither';
}

/**
 * The scope of the embedded service, whose key changes with each process while its models don't.
 */
export const LOCAL_SCOPE = 'local';

/** Maximum number of accounts at services. */
const MAX_CACHED_SCOPES = 20;

/** Returns a name for an account at a service that doesn't reveal its key. */
export function computeResourceScope(baseUrl: string, apiKey: string): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
}

function readEntry(file: string, scope: string): ResourceEntry | undefined {
  return readEntries(file).find(entry => entry.scope === scope);
}

/**
 * Puts an entry first; beyond 20 entries, drops the one that was not refreshed for longest.
 *
 * @throws {CliError} CONFIG_ERROR like `JsonFile`
 */
async function writeEntry(
  file: string,
  entry: ResourceEntry,
  clock: Pick<Clock, 'sleep' | 'random'>,
): Promise<void> {
  // A damaged cache has nothing worth keeping.
  if (readEntries(file).length === 0) rmSync(file, { force: true });
  await new JsonFile(file, clock, document => document).update(document => {
    const otherEntries = pickEntries(document).filter(({ scope }) => scope !== entry.scope);
    document['services'] = [entry, ...otherEntries].slice(0, MAX_CACHED_SCOPES);
  });
}

function readEntries(file: string): ResourceEntry[] {
  return pickEntries(readCacheFile(file));
}

function pickEntries(document: UncheckedObject): ResourceEntry[] {
  return readListAt(document['services']).filter(isEntry);
}

function isEntry(entry: unknown): entry is ResourceEntry {
  return (
    isJsonObject(entry) &&
    ['scope', 'hash', 'fetchedAt'].every(field => typeof entry[field] === 'string') &&
    Array.isArray(entry['models'])
  );
}

/**
 * Returns the cached entry for the service and key in use, and its file. Starts and sends nothing.
 *
 * @param options `askKeychain`: false to leave out the system's keychain, which may ask the user
 * @throws {CliError} CONFIG_ERROR like `resolveAddress` and `resolveKey`
 */
export async function readCachedResources(
  sources: AddressSources,
  options: { readonly askKeychain?: boolean } = {},
) {
  const address = resolveAddress(sources);
  const service = getServiceKey(address);
  const scope = address.isEmbedded
    ? LOCAL_SCOPE
    : computeResourceScope(service, (await resolveKey(sources, address, options)).value);
  const file = path.join(sources.settings.directory, RESOURCES_FILE_NAME);
  return { file, service, entry: readEntry(file, scope) };
}

/**
 * Returns only the models that have the interface's form, so that a hostile answer does no harm.
 */
export function pickWellFormedModels(models: readonly unknown[]): Model[] {
  return models
    .filter(isJsonObject)
    .filter(model => typeof model['model'] === 'string')
    .map(model => {
      const availableRunOptions = pickWellFormedOptions(model['availableRunOptions']);
      return { ...model, availableRunOptions } as Model;
    });
}

function pickWellFormedOptions(options: unknown): RunOption[] {
  return readListAt(options).flatMap(option => {
    const { key, options: values } = isJsonObject(option) ? option : {};
    if (typeof key !== 'string' || !Array.isArray(values)) return [];
    return [{ key, options: readListAt(values).filter(value => typeof value === 'string') }];
  });
}
