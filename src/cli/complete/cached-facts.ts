import { existsSync } from 'node:fs';
import type { Model } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { PromptCache } from '../settings/caches/prompt-cache.ts';
import { cachedResources, wellFormedModels } from '../settings/caches/resource-cache.ts';
import { resolveAddress, serviceOf } from '../settings/config/address.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { promptFileOf } from '../targets/prompt-file.ts';

/** More runs than this are never offered. */
const MOST_RUNS = 1000;

/** A prompt as far as this machine knows it. */
export interface KnownPrompt {
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly title: string;
  /** What it is called; undefined where only its ids are known. */
  readonly slug?: string | undefined;
  /** The names of its labels; only known of the local service. */
  readonly labels?: readonly string[];
  /** The inputs it expects. */
  readonly config: unknown;
  /** Only known of the local service. */
  readonly model?: string | undefined;
}

/** What is known on this machine of the service that a line speaks of. Never asks the network, never writes. */
export class Known {
  readonly #ctx: Context;
  #local: Promise<LocalFacts> | undefined;

  /** @param ctx its flags are those of the line that is completed */
  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  async models(): Promise<readonly Model[]> {
    const { service, cached } = await cachedResources(this.#ctx, false);
    const local = service === 'local' ? (await this.#localFacts()).models : [];
    return local.length > 0 ? local : wellFormedModels(cached?.models ?? []);
  }

  /** Every prompt of the local service, then those that were read before, last used first. */
  async prompts(): Promise<readonly KnownPrompt[]> {
    const service = this.#service();
    const local = service === 'local' ? (await this.#localFacts()).prompts : [];
    const cache = new PromptCache(this.#ctx.settings.directory, service);
    const slugs = cache.slugs();
    const read = cache.all().map(version => ({ ...version, slug: slugs.get(version.promptId) }));
    return [...local, ...read.filter(({ promptId }) => !local.some(one => one.promptId === promptId))];
  }

  /** What prompts are called, with their titles; a prompt without a slug by its newest id, in one version only. */
  async names(idOf: (prompt: KnownPrompt) => string): Promise<ReadonlyMap<string, string>> {
    const service = this.#service();
    const local = service === 'local' ? (await this.#localFacts()).prompts : [];
    // What else was read of this machine's own service are versions of files, which are offered as files.
    const prompts = local.length > 0 ? local : await this.prompts();
    const slugs = new PromptCache(this.#ctx.settings.directory, service).slugs();
    const names = new Map<string, { readonly name: string; readonly title: string }>();
    for (const prompt of prompts) {
      const { promptId, slug, title } = prompt;
      if (!names.has(promptId)) names.set(promptId, { name: slug ?? idOf(prompt), title });
    }
    for (const [promptId, name] of service === 'local' ? [] : slugs) {
      if (!names.has(promptId)) names.set(promptId, { name, title: '' });
    }
    return new Map([...names.values()].map(({ name, title }) => [name, title]));
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

  /** The prompt that a target stands for, in any version of it. */
  async prompt(target: string | undefined): Promise<KnownPrompt | undefined> {
    if (target === undefined) return undefined;
    const name = this.#ctx.settings.aliases.get(target) ?? target;
    const file = name.trim() === '' ? undefined : promptFileOf(this.#ctx, target, 'command line');
    if (file !== undefined)
      return file.revision === undefined ? promptInFile(this.#ctx, file.path) : undefined;
    const at = name.lastIndexOf('@');
    const slug = at > 0 ? name.slice(0, at) : name;
    const prompts = await this.prompts();
    return (
      prompts.find(({ promptVersionId }) => promptVersionId === name) ??
      prompts.find(({ promptId }) => promptId === name) ??
      prompts.find(prompt => prompt.slug === slug)
    );
  }

  #localFacts(): Promise<LocalFacts> {
    this.#local ??= localFacts(this.#ctx);
    return this.#local;
  }

  #service(): string {
    return serviceOf(resolveAddress(this.#ctx));
  }
}

/** A prompt that is a file: its inputs and its model. */
async function promptInFile(ctx: Context, file: string): Promise<KnownPrompt> {
  const [{ definitionOfFile }, { promptConfig }] = await Promise.all([
    import('../targets/prompt-definition.ts'),
    import('../../prompts/definition.ts'),
  ]);
  const definition = await definitionOfFile(ctx, file);
  const { title, model } = definition;
  return { promptId: '', promptVersionId: '', title, config: promptConfig(definition), model };
}

interface LocalFacts {
  readonly models: readonly Model[];
  readonly prompts: readonly KnownPrompt[];
}

/** Asks the service within this process; where nothing was ever kept, it is not made for this. */
async function localFacts(ctx: Context): Promise<LocalFacts> {
  if (!existsSync(ctx.dataDir)) return { models: [], prompts: [] };
  const { client } = await ctx.connection();
  const { resources } = await client.resources.get();
  const models = wellFormedModels(resources.models);
  const prompts: KnownPrompt[] = [];
  for await (const row of client.prompts.all()) {
    const { promptId, promptVersionId, title, slug, configs: config, model } = row;
    const labels = row.labels?.map(({ label }) => label) ?? [];
    prompts.push({ promptId, promptVersionId, title, slug, labels, config, model: models[model]?.model });
  }
  return { models, prompts };
}
