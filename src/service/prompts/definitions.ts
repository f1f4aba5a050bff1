import { type PromptDefinition, readStoredForm } from '../../prompts/definition.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';

type StoredPrompt = Pick<StoredVersion, 'id' | 'slug' | 'model' | 'source' | 'parsed'>;

export type Definitions = ReturnType<typeof createDefinitions>;

type RunnableVersion = NonNullable<Awaited<ReturnType<Store['prompts']['runnable']>>>;

const MAX_CACHED_DEFINITIONS = 500;

/** Reads parsed prompt versions and caches them, because versions never change. */
export function createDefinitions(store: Store, tasks: PromptTasks) {
  const parsedById = new Map<string, PromptDefinition>();
  const runnableById = new Map<string, RunnableVersion>();
  const forVersion = async (version: StoredPrompt): Promise<PromptDefinition> => {
    const known = parsedById.get(version.id);
    if (known) return known;
    // An unlisted version may have another model than its file names.
    const parsed = { ...(await readStored(version, tasks)), model: version.model };
    if (parsedById.size >= MAX_CACHED_DEFINITIONS) parsedById.clear();
    parsedById.set(version.id, parsed);
    return parsed;
  };
  return {
    forVersion,
    /**
     * Returns a version that can be run. A version that was withdrawn after it was first looked up is refused when a run of
     * it is created.
     */
    async runnable(id: string) {
      const runnableVersion = runnableById.get(id) ?? (await store.prompts.runnable(id));
      if (!runnableVersion) return undefined;
      if (runnableById.size >= MAX_CACHED_DEFINITIONS) runnableById.clear();
      runnableById.set(id, runnableVersion);
      return runnableVersion;
    },
    forgetRunnable: (id: string): void => void runnableById.delete(id.toLowerCase()),
    /** Returns the version of a run, published or not. */
    async forVersionId(promptVersionId: string): Promise<PromptDefinition> {
      const known = parsedById.get(promptVersionId);
      if (known) return known;
      const version = await store.prompts.versionOfRun(promptVersionId);
      if (!version) throw new Error(`prompt version ${promptVersionId} is not in the store`);
      return await forVersion(version);
    },
  };
}

async function readStored(
  { slug, source, parsed }: StoredPrompt,
  tasks: PromptTasks,
): Promise<PromptDefinition> {
  const stored = parsed === null ? { partials: {} } : readStoredForm(parsed);
  if ('definition' in stored) return stored.definition;
  return await readDefinition(source, `${slug}.prompt`, { ...stored, tasks });
}
