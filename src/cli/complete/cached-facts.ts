import { existsSync } from 'node:fs';
import type { Model } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { PromptCache } from '../settings/caches/prompt-cache.ts';
import { pickWellFormedModels, readCachedResources } from '../settings/caches/resource-cache.ts';
import { getServiceKey, resolveAddress } from '../settings/config/address.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { findPromptFile } from '../targets/prompt-file.ts';

/** Maximum number of offered runs. */
const MAX_OFFERED_RUNS = 1000;

/** A prompt that this machine knows. */
export interface KnownPrompt {
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly title: string;
  /** The slug; undefined if only the ids are known. */
  readonly slug?: string | undefined;
  /** The names of its labels; only on the local service. */
  readonly labels?: readonly string[];
  /** The config, with the expected inputs. */
  readonly config: unknown;
  /** The model; only on the local service. */
  readonly model?: string | undefined;
  /** Only on other services: the index of the model among the service's models. */
  readonly modelIndex?: number | undefined;
}

/**
 * The facts that this machine has about the service of the completed command line. Uses no network
 * and writes nothing.
 */
export class CachedFacts {
  readonly #ctx: Context;
  #localFacts: Promise<LocalFacts> | undefined;

  /** @param ctx has the flags of the completed line */
  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  async listModels(): Promise<readonly Model[]> {
    const { service, entry } = await readCachedResources(this.#ctx, { askKeychain: false });
    const local = service === 'local' ? (await this.#getLocalFacts()).models : [];
    return local.length > 0 ? local : pickWellFormedModels(entry?.models ?? []);
  }

  /** Returns every prompt of the local service, then the cached prompts, last used first. */
  async listPrompts(): Promise<readonly KnownPrompt[]> {
    const service = this.#getService();
    const localPrompts = service === 'local' ? (await this.#getLocalFacts()).prompts : [];
    const cache = new PromptCache(this.#ctx.settings.directory, service);
    const slugs = cache.getSlugs();
    const cachedPrompts = cache.listVersions().map(({ model: modelIndex, ...version }) => ({
      ...version,
      slug: slugs.get(version.promptId),
      modelIndex,
    }));

    return [
      ...localPrompts,
      ...cachedPrompts.filter(
        ({ promptId }) => !localPrompts.some(prompt => prompt.promptId === promptId),
      ),
    ];
  }

  /**
   * Returns the titles of prompts by their names. The name is the slug; without one, it is the id of
   * the newest version.
   */
  async listPromptTitles(
    getId: (prompt: KnownPrompt) => string,
  ): Promise<ReadonlyMap<string, string>> {
    const service = this.#getService();
    const localPrompts = service === 'local' ? (await this.#getLocalFacts()).prompts : [];

    // The other cached versions of the embedded service are prompt files, which are offered as
    // files.
    const prompts = localPrompts.length > 0 ? localPrompts : await this.listPrompts();
    const slugs = new PromptCache(this.#ctx.settings.directory, service).getSlugs();

    const names = new Map<string, { readonly name: string; readonly title: string }>();
    for (const prompt of prompts) {
      const { promptId, slug, title } = prompt;
      if (!names.has(promptId)) names.set(promptId, { name: slug ?? getId(prompt), title });
    }

    if (service !== 'local') {
      for (const [promptId, name] of slugs) {
        if (!names.has(promptId)) names.set(promptId, { name, title: '' });
      }
    }

    return new Map([...names.values()].map(({ name, title }) => [name, title]));
  }

  /** Returns the runs started on this machine, newest first. */
  async listRuns(): Promise<JournalEntry[]> {
    const service = this.#getService();
    const runs: JournalEntry[] = [];
    for await (const entry of this.#ctx.journal.readNewestFirst()) {
      if (entry.baseUrl === service && entry.runId !== undefined) runs.push(entry);
      if (runs.length === MAX_OFFERED_RUNS) break;
    }
    return runs;
  }

  /** Returns the prompt of a target, in any version; undefined if this machine doesn't know it. */
  async findPrompt(target: string | undefined): Promise<KnownPrompt | undefined> {
    if (target === undefined) return undefined;

    const name = this.#ctx.settings.aliases.get(target) ?? target;
    const promptFile =
      name.trim() === '' ? undefined : findPromptFile(this.#ctx, target, 'command line');
    if (promptFile !== undefined) {
      return promptFile.revision === undefined
        ? readPromptInFile(this.#ctx, promptFile.path)
        : undefined;
    }

    const separatorIndex = name.lastIndexOf('@');
    const slug = separatorIndex > 0 ? name.slice(0, separatorIndex) : name;
    const prompts = await this.listPrompts();

    return (
      prompts.find(({ promptVersionId }) => promptVersionId === name) ??
      prompts.find(({ promptId }) => promptId === name) ??
      prompts.find(prompt => prompt.slug === slug)
    );
  }

  /** Returns the model of a target; undefined if it is unknown. */
  async findModel(target: string | undefined): Promise<string | undefined> {
    const prompt = await this.findPrompt(target);
    if (prompt?.modelIndex === undefined) return prompt?.model;

    const models = await this.listModels();
    return models[prompt.modelIndex]?.model;
  }

  #getLocalFacts(): Promise<LocalFacts> {
    this.#localFacts ??= loadLocalFacts(this.#ctx);
    return this.#localFacts;
  }

  #getService(): string {
    return getServiceKey(resolveAddress(this.#ctx));
  }
}

/** Returns the title, inputs and model of a prompt file, which has no ids. */
async function readPromptInFile(ctx: Context, promptPath: string): Promise<KnownPrompt> {
  const [{ readPromptDefinition }, { toPromptConfig }] = await Promise.all([
    import('../targets/prompt-definition.ts'),
    import('../../prompts/definition.ts'),
  ]);
  const definition = await readPromptDefinition(ctx, promptPath);
  const { title, model } = definition;
  return { promptId: '', promptVersionId: '', title, config: toPromptConfig(definition), model };
}

interface LocalFacts {
  readonly models: readonly Model[];
  readonly prompts: readonly KnownPrompt[];
}

/** Reads the store of the local service in this process; does not create it. */
async function loadLocalFacts(ctx: Context): Promise<LocalFacts> {
  if (!existsSync(ctx.dataDir)) return { models: [], prompts: [] };

  const { client } = await ctx.connection();
  const { resources } = await client.resources.get();

  const models = pickWellFormedModels(resources.models);
  const prompts: KnownPrompt[] = [];
  for await (const row of client.prompts.all()) {
    const { promptId, promptVersionId, title, slug, configs: config, model } = row;
    const labels = row.labels?.map(({ label }) => label) ?? [];
    prompts.push({
      promptId,
      promptVersionId,
      title,
      slug,
      labels,
      config,
      model: models[model]?.model,
    });
  }

  return { models, prompts };
}
