import path from 'node:path';
import { isJsonObject, readListAt } from '../../../utils/bounded-json.ts';
import type { PromptVersion } from '../../../wire/index.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { readCacheFile, writeCacheFile } from '../json-file.ts';

export const PROMPTS_FILE_NAME = 'prompts.json';

/** Maximum number of versions, and of slugs. */
const MAX_CACHED_PROMPTS = 200;

/**
 * Number of changes that are written at once; those of a command with many prompts are written
 * together at its end.
 */
const MAX_IMMEDIATE_WRITES = 8;

interface CachedVersion {
  readonly service: string;
  readonly version: KnownVersion;
}

/** A version, with the index of its model among the service's models if a search row named it. */
export type KnownVersion = PromptVersion & { readonly model?: number };

/** The slug of a prompt at its service. */
interface CachedSlug {
  readonly service: string;
  readonly promptId: string;
  readonly slug: string;
}

/** The entries of the cache, last used first. */
interface CachedPrompts {
  readonly versions: readonly CachedVersion[];
  readonly slugs: readonly CachedSlug[];
}

/** Caches prompt versions, which never change, so that their configs need no second request. */
export class PromptCache {
  readonly #file: string;
  readonly #serviceName: string;
  readonly #onProblem: (message: string) => void;
  /** The content when it was last read, with the changes since. */
  #content: CachedPrompts | undefined;
  /** The changes that are not written yet. */
  #unwrittenChanges: ((content: CachedPrompts) => CachedPrompts)[] = [];
  #changeCount = 0;

  /**
   * @param directory the configuration directory
   * @param service the base URL, or `local` for the embedded service (see `Connection.serviceName`)
   * @param onProblem called if the file can't be written; the cache then works in memory
   */
  constructor(directory: string, service: string, onProblem: (message: string) => void = () => {}) {
    this.#file = path.join(directory, PROMPTS_FILE_NAME);
    this.#serviceName = service;
    this.#onProblem = onProblem;
  }

  /** Returns a cached version with its config and counts that as a use. */
  get(promptVersionId: string): KnownVersion | undefined {
    const { versions } = this.#read();
    const entry = versions.find(candidate => this.#hasId(candidate, promptVersionId));
    if (entry !== undefined && entry !== versions[0]) this.put(entry.version);
    return entry?.version;
  }

  /** Caches a version; beyond 200 versions, drops the least recently used. */
  put(version: KnownVersion): void {
    const entry = { service: this.#serviceName, version };
    if (!isCachedVersion(entry)) return;

    this.#change(({ versions, slugs }) => {
      const otherVersions = versions.filter(other => !this.#hasId(other, version.promptVersionId));
      return { versions: [entry, ...otherVersions].slice(0, MAX_CACHED_PROMPTS), slugs };
    });
  }

  /** Caches the slug of a prompt, so that completion can offer it. */
  putSlug(promptId: string, slug: string): void {
    const service = this.#serviceName;
    if (this.getSlugs().get(promptId) === slug) return;
    this.#change(({ versions, slugs }) => {
      const otherSlugs = slugs.filter(row => row.service !== service || row.promptId !== promptId);
      const newSlugs = [{ service, promptId, slug }, ...otherSlugs];
      return { versions, slugs: newSlugs.slice(0, MAX_CACHED_PROMPTS) };
    });
  }

  /**
   * Writes the changes that are not written yet into what other processes may have written
   * meanwhile.
   */
  flush(): void {
    if (this.#unwrittenChanges.length === 0) return;

    const content = this.#unwrittenChanges.reduce(
      (before, change) => change(before),
      this.#readFile(),
    );
    this.#unwrittenChanges = [];
    this.#content = content;

    try {
      writeCacheFile(this.#file, { ...content });
    } catch (error) {
      this.#onProblem(`prompts are not kept in ${this.#file}: ${toOneLine(String(error))}`);
    }
  }

  /** Returns the cached slugs of this service by prompt id. */
  getSlugs(): ReadonlyMap<string, string> {
    const serviceSlugs = this.#read().slugs.filter(({ service }) => service === this.#serviceName);
    return new Map(serviceSlugs.map(({ promptId, slug }) => [promptId, slug]));
  }

  /** Returns every cached version of this service, last used first. Does not count as a use. */
  listVersions(): KnownVersion[] {
    const serviceVersions = this.#read().versions.filter(
      ({ service }) => service === this.#serviceName,
    );
    return serviceVersions.map(({ version }) => version);
  }

  #hasId({ service, version }: CachedVersion, promptVersionId: string): boolean {
    return (
      service === this.#serviceName &&
      version.promptVersionId.toLowerCase() === promptVersionId.toLowerCase()
    );
  }

  #change(change: (content: CachedPrompts) => CachedPrompts): void {
    this.#unwrittenChanges.push(change);
    this.#changeCount += 1;
    if (this.#changeCount <= MAX_IMMEDIATE_WRITES) {
      this.flush();
    } else {
      this.#content = change(this.#read());
    }
  }

  #read(): CachedPrompts {
    this.#content ??= this.#readFile();
    return this.#content;
  }

  #readFile(): CachedPrompts {
    const { versions, slugs } = readCacheFile(this.#file);
    return {
      versions: readListAt(versions).filter(isCachedVersion),
      slugs: readListAt(slugs).filter(isCachedSlug),
    };
  }
}

function isCachedVersion(entry: unknown): entry is CachedVersion {
  return (
    isJsonObject(entry) &&
    typeof entry['service'] === 'string' &&
    isJsonObject(entry['version']) &&
    typeof entry['version']['promptVersionId'] === 'string'
  );
}

function isCachedSlug(entry: unknown): entry is CachedSlug {
  return (
    isJsonObject(entry) &&
    ['service', 'promptId', 'slug'].every(key => typeof entry[key] === 'string')
  );
}
