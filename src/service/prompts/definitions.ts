import { type PromptDefinition, readStoredForm } from '../../prompts/definition.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';

type StoredPrompt = Pick<StoredVersion, 'id' | 'slug' | 'model' | 'source' | 'parsed'>;

type RunnableVersion = NonNullable<Awaited<ReturnType<Store['prompts']['findRunnable']>>>;

const MAX_CACHED_DEFINITIONS = 500;

/** The parsed prompt versions of a store, cached because versions never change. */
export class Definitions {
  readonly #store: Store;
  readonly #tasks: PromptTasks;
  readonly #parsed = new Map<string, PromptDefinition>();
  readonly #runnable = new Map<string, RunnableVersion>();

  constructor(store: Store, tasks: PromptTasks) {
    this.#store = store;
    this.#tasks = tasks;
  }

  async getByVersion(version: StoredPrompt): Promise<PromptDefinition> {
    const cachedDefinition = this.#parsed.get(version.id);
    if (cachedDefinition) return cachedDefinition;
    // An unlisted version may have another model than its file names.
    const definition = { ...(await readStored(version, this.#tasks)), model: version.model };
    addToCache(this.#parsed, version.id, definition);
    return definition;
  }

  /** Returns the definition of the version of a run, published or not. */
  async getByVersionId(promptVersionId: string): Promise<PromptDefinition> {
    const cachedDefinition = this.#parsed.get(promptVersionId);
    if (cachedDefinition) return cachedDefinition;
    const version = await this.#store.prompts.findVersionOfRun(promptVersionId);
    if (!version) throw new Error(`prompt version ${promptVersionId} is not in the store`);
    return await this.getByVersion(version);
  }

  /**
   * Returns a version that can be run. A version that was withdrawn after it was first looked up is
   * refused when a run of it is created.
   */
  async findRunnable(id: string): Promise<RunnableVersion | undefined> {
    const version = this.#runnable.get(id) ?? (await this.#store.prompts.findRunnable(id));
    if (version) addToCache(this.#runnable, id, version);
    return version;
  }

  forgetRunnable(id: string): void {
    this.#runnable.delete(id.toLowerCase());
  }
}

function addToCache<V>(cache: Map<string, V>, id: string, value: V): void {
  if (cache.size >= MAX_CACHED_DEFINITIONS) cache.clear();
  cache.set(id, value);
}

async function readStored(
  { slug, source, parsed }: StoredPrompt,
  tasks: PromptTasks,
): Promise<PromptDefinition> {
  const storedForm = parsed === null ? { partials: {} } : readStoredForm(parsed);
  if ('definition' in storedForm) return storedForm.definition;
  return await readDefinition(source, `${slug}.prompt`, { ...storedForm, tasks });
}
