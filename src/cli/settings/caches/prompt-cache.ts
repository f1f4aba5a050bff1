import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { replaceFileSync } from '../../../files/write-file.ts';
import type { PromptVersion } from '../../../wire/index.ts';
import { isObject, listOf } from '../../core/json-value.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { readCacheFile } from './cache-file.ts';

export const PROMPTS_FILE = 'prompts.json';
const MOST_VERSIONS = 200;

interface Kept {
  readonly service: string;
  readonly version: PromptVersion;
}

/** What a prompt is called at its service. */
interface KeptSlug {
  readonly service: string;
  readonly promptId: string;
  readonly slug: string;
}

export interface PromptCacheOptions {
  /** The configuration directory. */
  readonly directory: string;
  /** The base URL, or `local` for the embedded service (see `Connection.service`). */
  readonly service: string;
  /** Called when the file can't be written; the cache goes on without. */
  readonly onProblem?: (message: string) => void;
}

/** Prompt versions that were read once: a version never changes, so its config needs no second request. */
export class PromptCache {
  readonly #file: string;
  readonly #options: PromptCacheOptions;

  constructor(options: PromptCacheOptions) {
    this.#options = options;
    this.#file = path.join(options.directory, PROMPTS_FILE);
  }

  /** The version with its config, if it was read before; counts as a use of it. */
  get(promptVersionId: string): PromptVersion | undefined {
    const { versions: kept } = this.#read();
    const found = kept.find(entry => this.#is(entry, promptVersionId));
    if (found !== undefined && found !== kept[0]) this.#write(found, kept);
    return found?.version;
  }

  /** Keeps a version, and drops the one not used for longest once there are 200. */
  put(version: PromptVersion): void {
    const kept = { service: this.#options.service, version };
    if (isKept(kept)) this.#write(kept, this.#read().versions);
  }

  /** Remembers what a prompt is called, so that it can be offered by its name. */
  noteSlug(promptId: string, slug: string): void {
    const { service } = this.#options;
    if (this.slugs().get(promptId) === slug) return;
    const { versions, slugs } = this.#read();
    const others = slugs.filter(one => one.service !== service || one.promptId !== promptId);
    this.#save(versions, [{ service, promptId, slug }, ...others].slice(0, MOST_VERSIONS));
  }

  /** The slugs of this service's prompts that are known, by prompt. */
  slugs(): ReadonlyMap<string, string> {
    const ours = this.#read().slugs.filter(({ service }) => service === this.#options.service);
    return new Map(ours.map(({ promptId, slug }) => [promptId, slug]));
  }

  /** Every version kept of this service, last used first. Counts as no use. */
  all(): PromptVersion[] {
    return this.#read()
      .versions.filter(entry => entry.service === this.#options.service)
      .map(entry => entry.version);
  }

  #is(entry: Kept, promptVersionId: string): boolean {
    return (
      entry.service === this.#options.service &&
      entry.version.promptVersionId.toLowerCase() === promptVersionId.toLowerCase()
    );
  }

  #read(): { readonly versions: readonly Kept[]; readonly slugs: readonly KeptSlug[] } {
    const stored = readCacheFile(this.#file);
    const { versions, slugs } = isObject(stored) ? stored : {};
    return { versions: listOf(versions).filter(isKept), slugs: listOf(slugs).filter(isKeptSlug) };
  }

  #write(first: Kept, others: readonly Kept[]): void {
    const rest = others.filter(entry => !this.#is(entry, first.version.promptVersionId));
    this.#save([first, ...rest].slice(0, MOST_VERSIONS), this.#read().slugs);
  }

  #save(versions: readonly Kept[], slugs: readonly KeptSlug[]): void {
    try {
      makeDirectory(path.dirname(this.#file), 0o700);
      const kept = { versions, ...(slugs.length > 0 && { slugs }) };
      replaceFileSync(this.#file, JSON.stringify(kept), 0o600);
    } catch (error) {
      this.#options.onProblem?.(`prompts are not kept in ${this.#file}: ${oneLine(String(error))}`);
    }
  }
}

function isKept(entry: unknown): entry is Kept {
  return (
    isObject(entry) &&
    typeof entry.service === 'string' &&
    isObject(entry.version) &&
    typeof entry.version.promptVersionId === 'string'
  );
}

function isKeptSlug(entry: unknown): entry is KeptSlug {
  return isObject(entry) && ['service', 'promptId', 'slug'].every(key => typeof entry[key] === 'string');
}
