import { isUuid, type Model, type PromptVersion } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { describeConfig, type InputFields } from '../inputs/schema/describe.ts';
import { readCacheFile } from '../settings/caches/cache-file.ts';
import { PromptCache } from '../settings/caches/prompt-cache.ts';
import {
  LOCAL_SCOPE,
  parseEntries,
  RESOURCES_FILE,
  resourceScope,
  wellFormedModels,
} from '../settings/caches/resource-entries.ts';
import { resolveAddress } from '../settings/config/address.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

/** More runs than this are never offered. */
const MOST_RUNS = 1000;

/** What is known on this machine of the service that a line speaks of. Never asks it, never writes. */
export class Known {
  readonly #ctx: Context;

  /** @param ctx its flags are those of the line that is completed */
  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  models(): Model[] {
    const scope = this.#scope();
    const entries = parseEntries(readCacheFile(`${this.#ctx.settings.directory}/${RESOURCES_FILE}`));
    return wellFormedModels(entries.find(entry => entry.scope === scope)?.models ?? []);
  }

  /** Last used first. */
  prompts(): PromptVersion[] {
    return new PromptCache({ directory: this.#ctx.settings.directory, service: this.#service() }).all();
  }

  /** Runs started from here, newest first. */
  async runs(): Promise<JournalEntry[]> {
    const service = this.#service();
    const runs: JournalEntry[] = [];
    for await (const entry of this.#ctx.journal.newestFirst()) {
      if (entry.baseUrl === service && entry.runId !== undefined) runs.push(entry);
      if (runs.length === MOST_RUNS) break;
    }
    return runs;
  }

  /** What the prompt that a target stands for asks for, if it was read before. */
  inputsOf(target: string | undefined): InputFields {
    const id = target === undefined ? undefined : (this.#ctx.settings.aliases.get(target) ?? target);
    const prompts = id !== undefined && isUuid(id) ? this.prompts() : [];
    const version =
      prompts.find(prompt => prompt.promptVersionId === id) ?? prompts.find(prompt => prompt.promptId === id);
    return describeConfig(version?.config);
  }

  #service(): string {
    const address = resolveAddress(this.#ctx);
    return address.embedded ? 'local' : address.baseUrl.value;
  }

  /** Only with a key that can be had without asking the system's keychain, which may ask the user. */
  #scope(): string | undefined {
    const { env, globals, settings } = this.#ctx;
    const address = resolveAddress(this.#ctx);
    if (address.embedded) return LOCAL_SCOPE;
    const { value: baseUrl } = address.baseUrl;
    const stored = address.profile === undefined ? undefined : settings.credentials.find(address.profile);
    const storedKey = stored?.origin === new URL(baseUrl).origin ? stored.key : undefined;
    const key = globals.profile === undefined ? env['PROMPTRUN_API_KEY'] || storedKey : storedKey;
    return key === undefined ? undefined : resourceScope(baseUrl, key);
  }
}
