import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { within } from '../../../client/signals.ts';
import type { Model, Resources, RunOption } from '../../../wire/index.ts';
import { isObject, type JsonObject, listOf } from '../../core/json-value.ts';
import type { Clock } from '../../core/types.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { type AddressSources, resolveAddress, resolveKey, serviceOf } from '../config/address.ts';
import { JsonFile, readCacheFile } from '../json-file.ts';

/** How long the refresh that a service asked for may take, in milliseconds. */
const SETTLE_TIMEOUT_MS = 5000;
/** How often a service that understands no form of `cli-agent` is asked again, in milliseconds. */
const DEAF_INTERVAL_MS = 3_600_000;
/** What may stand in a header; a hash with a line break in it would forge another header. */
const SENDABLE = /^[\u0021-\u007e]{1,1024}$/u;

export interface FetchLimits {
  readonly timeoutMs?: number;
  /** 0 tries once. */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

export interface ResourceCacheOptions {
  /** The configuration directory. */
  readonly directory: string;
  /** `resourceScope(baseUrl, apiKey)`, or `LOCAL_SCOPE` for the embedded service. */
  readonly scope: string;
  /** `GET /resources`, without reporting a wish for a refresh that its own answer may carry. */
  readonly fetch: (limits: FetchLimits) => Promise<Resources>;
  readonly clock: Clock;
  /** Told of refreshes that failed, and of files that can't be written. */
  readonly onProblem: (message: string) => void;
}

/** The cached models of a service, and the hash by which the service knows them. */
export class ResourceCache {
  readonly #options: ResourceCacheOptions;
  readonly #file: string;
  #cached: { readonly entry: ResourceEntry | undefined } | undefined;
  #refreshWanted = false;
  #isKept = true;

  constructor(options: ResourceCacheOptions) {
    this.#options = options;
    this.#file = path.join(options.directory, RESOURCES_FILE);
  }

  /** What is sent as `cli-agent`: the hash, in the form that the service understands; undefined while none is cached. */
  cliAgent(): string | undefined {
    const { hash = '', agentForm } = this.cached() ?? {};
    if (!SENDABLE.test(hash)) return undefined;
    return agentForm === 'named' ? `resources_hash=${hash}` : hash;
  }

  /** False once what was fetched could not be written, so that the next process fetches it again. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** What is cached, read once. */
  cached(): ResourceEntry | undefined {
    this.#cached ??= { entry: readEntry(this.#file, this.#options.scope) };
    return this.#cached.entry;
  }

  /** The cached models; fetched if there are none yet, or with `refresh`. */
  async models({ refresh = false, ...limits }: FetchLimits & { refresh?: boolean } = {}): Promise<Model[]> {
    const cached = refresh ? undefined : this.cached();
    return wellFormedModels(cached?.models ?? (await this.refresh(limits)).resources.models);
  }

  /** Fetches the models and keeps them; gives the service's answer as it came. */
  async refresh(limits: FetchLimits = {}): Promise<Resources> {
    const before = this.cached();
    const answer = await this.#options.fetch(limits);
    // A service that wants a refresh, and then gives the hash that it was sent, has not understood the header.
    const isMisunderstood = this.#refreshWanted && before?.hash === answer.hash;
    const agentForm = isMisunderstood ? otherForm(before) : before?.agentForm;
    this.#refreshWanted = false;
    await this.#keep({
      scope: this.#options.scope,
      hash: answer.hash,
      models: answer.resources.models,
      fetchedAt: new Date(this.#options.clock.now()).toISOString(),
      ...(agentForm !== undefined && { agentForm }),
    });
    return answer;
  }

  /** An answer carried `action-require`. Of a service that understands no form of the header it is believed once an hour. */
  noteActionRequired(): void {
    const { agentForm, fetchedAt = '' } = this.cached() ?? {};
    const isTooSoon = this.#options.clock.now() - Date.parse(fetchedAt) < DEAF_INTERVAL_MS;
    this.#refreshWanted = agentForm !== 'neither' || !isTooSoon;
  }

  /** Does the refresh the service asked for, once the command's result is out: one try of at most 5 s, never a fault. */
  async settle(signal?: AbortSignal): Promise<void> {
    if (!this.#refreshWanted) return;
    try {
      await within(SETTLE_TIMEOUT_MS, signal, limited =>
        this.refresh({ timeoutMs: SETTLE_TIMEOUT_MS, retries: 0, signal: limited }),
      );
    } catch (error) {
      this.#refreshWanted = false;
      this.#options.onProblem(`models could not be refreshed: ${oneLine(String(error))}`);
    }
  }

  async #keep(entry: ResourceEntry): Promise<void> {
    this.#cached = { entry };
    try {
      await writeEntry(this.#file, entry, this.#options.clock);
    } catch (error) {
      this.#isKept = false;
      this.#options.onProblem(`models are not kept in ${this.#file}: ${oneLine(String(error))}`);
    }
  }
}

/** The form to try once the one in use was not understood. */
function otherForm({ agentForm }: ResourceEntry): 'named' | 'neither' {
  return agentForm === undefined ? 'named' : 'neither';
}

/** The models of one service as one account sees them. */
export interface ResourceEntry {
  /** Base URL and key fingerprint in one (see `resourceScope`). */
  readonly scope: string;
  /** As the service gave it. */
  readonly hash: string;
  /** As the service gave them. */
  readonly models: readonly unknown[];
  /** ISO 8601. */
  readonly fetchedAt: string;
  /**
   * The form of `cli-agent` that the service wants: `resources_hash=<hash>`, or neither this nor the bare hash; the bare
   * hash if undefined.
   */
  readonly agentForm?: 'named' | 'neither';
}

export const RESOURCES_FILE = 'resources.json';
/** The embedded service's scope: its key dies with each process, its models don't. */
export const LOCAL_SCOPE = 'local';
const MOST_ENTRIES = 20;

/** Names one account at one service without giving its key away. */
export function resourceScope(baseUrl: string, apiKey: string): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
}

/** What is cached under a scope. */
export function readEntry(file: string, scope: string): ResourceEntry | undefined {
  return readEntries(file).find(entry => entry.scope === scope);
}

/**
 * Puts an entry first, and drops the one not renewed for longest once there are 20.
 *
 * @throws {CliError} CONFIG_ERROR as `JsonFile` throws it
 */
export async function writeEntry(
  file: string,
  entry: ResourceEntry,
  clock: Pick<Clock, 'sleep' | 'random'>,
): Promise<void> {
  // A damaged cache holds nothing that is worth keeping.
  if (readEntries(file).length === 0) rmSync(file, { force: true });
  await new JsonFile(file, clock, document => document).update(document => {
    const others = entriesIn(document).filter(({ scope }) => scope !== entry.scope);
    document['services'] = [entry, ...others].slice(0, MOST_ENTRIES);
  });
}

function readEntries(file: string): ResourceEntry[] {
  return entriesIn(readCacheFile(file));
}

function entriesIn(document: JsonObject): ResourceEntry[] {
  return listOf(document['services']).filter(isEntry);
}

function isEntry(entry: unknown): entry is ResourceEntry {
  return (
    isObject(entry) &&
    ['scope', 'hash', 'fetchedAt'].every(field => typeof entry[field] === 'string') &&
    Array.isArray(entry['models'])
  );
}

/**
 * What is cached for the service and key in force, and where; starts nothing and sends nothing.
 *
 * @param askKeychain whether the system's keychain may be asked for the key, which may ask the user
 * @throws {CliError} CONFIG_ERROR as `resolveAddress` and `resolveKey`
 */
export async function cachedResources(sources: AddressSources, askKeychain = true) {
  const address = resolveAddress(sources);
  const service = serviceOf(address);
  const scope = address.embedded
    ? LOCAL_SCOPE
    : resourceScope(service, (await resolveKey(sources, address, askKeychain)).value);
  const file = path.join(sources.settings.directory, RESOURCES_FILE);
  return { file, service, cached: readEntry(file, scope) };
}

/** Models without what is not of the interface's form, so that a hostile answer does no harm. */
export function wellFormedModels(models: readonly unknown[]): Model[] {
  return models
    .filter(isObject)
    .filter(model => typeof model['model'] === 'string')
    .map(
      model => ({ ...model, availableRunOptions: wellFormedOptions(model['availableRunOptions']) }) as Model,
    );
}

function wellFormedOptions(options: unknown): RunOption[] {
  return listOf(options).flatMap(option => {
    const { key, options: values } = isObject(option) ? option : {};
    if (typeof key !== 'string' || !Array.isArray(values)) return [];
    return [{ key, options: listOf(values).filter(value => typeof value === 'string') }];
  });
}
