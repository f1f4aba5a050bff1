import { loadModels } from '../models/catalogue/model-table.ts';
import type { ModelsText } from '../models/catalogue/models-file.ts';
import { InvalidInputs } from '../prompts/definition.ts';
import { type PromptTasks, SharedTasks } from '../prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../prompts/tasks/read-prompt.ts';
import type { Env } from '../utils/env.ts';
import { type Clock, serviceClock } from './core/clock.ts';
import { Refusal } from './core/refusal.ts';
import { createKey, localUser, type NewKey, updateUser } from './keys/keys.ts';
import { createDefinitions } from './prompts/definitions.ts';
import { publishPrompt } from './prompts/publish.ts';
import { seedSamples } from './prompts/seed-samples.ts';
import { ensureUnlistedVersion, type UnlistedRequest } from './prompts/unlisted.ts';
import { checkRunOptions } from './runs/run-request.ts';
import type { StoredKey, UserChanges } from './store/accounts-store.ts';
import { openDatabase } from './store/open-database.ts';
import { storeFault } from './store/store-errors.ts';

export { isInUse } from './store/sqlite/worker-locks.ts';

/** The local store without a service, for commands on keys and prompts. */
export type LocalStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the store of a data directory, which running services may have open too.
 *
 * @throws {DataDirectoryError} if the directory can't be used
 */
export async function openStore({
  dataDir,
  database,
  modelsFile,
  declaredModels,
  env = {},
  clock = serviceClock,
  onNotice = () => {},
  defaultModel,
  tasks: sharedTasks,
}: {
  dataDir: string;
  /** The URL of a PostgreSQL database; default an SQLite file in the data directory. */
  database?: string | undefined;
  /** The absolute path of a file with more models. */
  modelsFile?: string | undefined;
  /** More models, which come from no file. */
  declaredModels?: readonly ModelsText[] | undefined;
  env?: Env;
  clock?: Clock;
  /** Called with each fault of models.yaml. */
  onNotice?: (line: string) => void;
  /** The model for prompt files that name none; default `echo`. */
  defaultModel?: string | undefined;
  /** Tasks that stay open when the store is closed; default its own. */
  tasks?: PromptTasks | undefined;
}) {
  const store = await openDatabase({ dataDir, database, clock, env });
  await localUser(store);
  await seedSamples(store, clock);
  const models = () =>
    loadModels({
      dataDir,
      modelsFile,
      declaredModels,
      env,
      watch: false,
      onProblem: error => onNotice(error.message),
    });
  const tasks = sharedTasks ?? new SharedTasks({ isForOneUser: true });
  const definitions = createDefinitions(store, tasks);
  const context = async () => ({ store, clock, tasks, models: await models(), defaultModel });
  return {
    /** Returns the definition of a published or unlisted version; undefined if there is none. */
    async definition(promptVersionId: string) {
      const version = await store.prompts.version(promptVersionId.toLowerCase());
      return version && (await definitions.forVersion(version));
    },
    /** Creates a key, and its user if necessary. */
    async createKey(options: NewKey) {
      const { key, isNewUser, ...stored } = await createKey(store, clock, options);
      return { ...keyView(stored), key, isNewUser };
    },
    listKeys: async () => (await store.accounts.keys()).map(keyView),
    /** Returns false if the key doesn't exist. */
    revokeKey: (id: string) => store.accounts.removeKey(id),
    /** Returns all users, or the one with this name. */
    users: (name?: string) => store.accounts.userSummaries(name),
    /** Changes plan or credits; returns undefined if the user doesn't exist. @throws {KeyError} */
    changeUser: (name: string, changes: UserChanges) => updateUser(store, name, changes),
    /** Publishes a prompt file. @throws {InvalidPromptFile} whose message names file and line */
    publish: async (file: string) =>
      publishPrompt(await context(), await readPromptFile(file, { tasks }), file),
    /** Stores a version that can be run but is not published. @throws {InvalidPromptFile | UnlistedFault} */
    ensureUnlistedVersion: async (request: UnlistedRequest) =>
      ensureUnlistedVersion(await context(), request),
    /** Checks run options against the model of a version, or of a prompt's latest version. @throws {InvalidInputs} */
    async checkRunOptions(id: string, options: Readonly<Record<string, string>>) {
      const version = (await store.prompts.version(id)) ?? (await store.prompts.latest(id));
      const model = version && (await models()).get(version.model);
      if (!model) return;
      try {
        checkRunOptions({ ...options }, model);
      } catch (error) {
        throw error instanceof Refusal ? new InvalidInputs([error.message]) : error;
      }
    },
    /** Returns false if the published prompt doesn't exist. */
    unpublish: (slug: string) => store.prompts.unpublish(slug),
    async close() {
      if (sharedTasks === undefined) await tasks.close();
      await store.close();
    },
  };
}

/**
 * Calls `use` with the store of a data directory, then closes the store.
 *
 * @throws {DataDirectoryError} if the directory can't be used, for example because the disk has become full
 */
export async function withStore<T>(
  options: Parameters<typeof openStore>[0],
  use: (store: LocalStore) => Promise<T>,
): Promise<T> {
  let store: LocalStore | undefined;
  try {
    store = await openStore(options);
    return await use(store);
  } catch (error) {
    throw storeFault(options.dataDir, error);
  } finally {
    await store?.close();
  }
}

/** A key as it is displayed. Times are ISO 8601; `lastUsedAt` is null if it was never used; an `author` may publish. */
export type KeyView = ReturnType<typeof keyView>;

function keyView({ createdAt, lastUsedAt, author, ...key }: StoredKey) {
  return {
    ...key,
    author: author === 1,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
