import { type PromptDefinition, readStoredForm } from '../../prompts/definition.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';

type VersionSource = Pick<StoredVersion, 'id' | 'slug' | 'model' | 'source' | 'parsed'>;

type RunnableVersion = NonNullable<Awaited<ReturnType<Store['prompts']['findRunnable']>>>;

const MAX_CACHED_DEFINITIONS = 500;

/** The definitions of a store's prompt versions, cached because versions never change. */
export class Definitions {
  readonly #store: Store;
  readonly #tasks: PromptTasks;
  readonly #definitions = new Map<string, PromptDefinition>();
  readonly #runnableVersions = new Map<string, RunnableVersion>();

  constructor(store: Store, tasks: PromptTasks) {
    this.#store = store;
    this.#tasks = tasks;
  }

  async getByVersion(version: VersionSource): Promise<PromptDefinition> {
    const cachedDefinition = this.#definitions.get(version.id);
    if (cachedDefinition) return cachedDefinition;
    // An unlisted version may have another model than its file names.
    const definition = {
      ...(await readStoredDefinition(version, this.#tasks)),
      model: version.model,
    };
    addToCache(this.#definitions, version.id, definition);
    return definition;
  }

  /** Returns the definition of a version, even if it is not published. */
  async getByVersionId(promptVersionId: string): Promise<PromptDefinition> {
    const cachedDefinition = this.#definitions.get(promptVersionId);
    if (cachedDefinition) return cachedDefinition;
    const version = await this.#store.prompts.findVersionOfRun(promptVersionId);
    if (!version) throw new Error(`prompt version ${promptVersionId} is not in the store`);
    return await this.getByVersion(version);
  }

  /**
   * Returns a version that can be run; undefined if there is none. It comes from the cache even if
   * it has been withdrawn since; the store then refuses to create a run of it.
   */
  async findRunnable(id: string): Promise<RunnableVersion | undefined> {
    const version = this.#runnableVersions.get(id) ?? (await this.#store.prompts.findRunnable(id));
    if (version) addToCache(this.#runnableVersions, id, version);
    return version;
  }

  forgetRunnable(id: string): void {
    this.#runnableVersions.delete(id.toLowerCase());
  }
}

function addToCache<V>(cache: Map<string, V>, id: string, value: V): void {
  if (cache.size >= MAX_CACHED_DEFINITIONS) cache.clear();
  cache.set(id, value);
}

async function readStoredDefinition(
  { slug, source, parsed }: VersionSource,
  tasks: PromptTasks,
): Promise<PromptDefinition> {
  const storedForm = parsed === null ? { partials: {} } : readStoredForm(parsed);
  if ('definition' in storedForm) return storedForm.definition;
  return await readDefinition(source, `${slug}.prompt`, { ...storedForm, tasks });
}
