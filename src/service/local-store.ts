import type { ModelsText } from '../models/catalogue/models-file.ts';
import { loadModels } from '../models/catalogue/table.ts';
import type { Env } from '../models/outgoing/proxy.ts';
import { InvalidInputs } from '../prompts/definition.ts';
import { SharedTasks } from '../prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../prompts/tasks/read-prompt.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { Refusal } from './core/refusal.ts';
import { changeUser, createKey, localUser, type NewKey } from './keys/keys.ts';
import { createDefinitions } from './prompts/definitions.ts';
import { publishPrompt } from './prompts/publish.ts';
import { seedSamples } from './prompts/seed-samples.ts';
import { ensureUnlistedVersion, type UnlistedWanted } from './prompts/unlisted.ts';
import { checkRunOptions } from './runs/run-request.ts';
import type { StoredKey, UserChanges } from './store/accounts-store.ts';
import { storeFault } from './store/errors.ts';
import { openDatabase } from './store/open.ts';

/** The local store without a service over it, for keys and prompts. */
export type LocalStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the store of a data directory beside services that may be running on it.
 *
 * @throws {DataDirectoryError} where the directory can't be used
 */
export async function openStore({
  dataDir,
  database,
  modelsFile,
  declaredModels,
  env = {},
  clock = systemClock,
  onNotice = () => {},
  defaultModel,
}: {
  dataDir: string;
  /** A URL of PostgreSQL; default the file in the data directory. */
  database?: string | undefined;
  /** A file with more models, absolute. */
  modelsFile?: string | undefined;
  /** More models, which stand in no file. */
  declaredModels?: readonly ModelsText[] | undefined;
  env?: Env;
  clock?: Clock;
  /** Called with each fault of models.yaml. */
  onNotice?: (line: string) => void;
  /** For prompt files that name no model; by default `echo`. */
  defaultModel?: string | undefined;
}) {
  const store = await openDatabase({ dataDir, database, clock });
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
  const tasks = new SharedTasks();
  const definitions = createDefinitions(store, tasks);
  const context = async () => ({ store, clock, tasks, models: await models(), defaultModel });
  return {
    /** What a version says, published or not; undefined if it is not there. */
    async definition(promptVersionId: string) {
      const version = await store.prompts.version(promptVersionId.toLowerCase());
      return version && (await definitions.of(version));
    },
    /** Makes a key, and its user where there is none. */
    async createKey(options: NewKey) {
      const { key, isNewUser, ...stored } = await createKey(store, clock, options);
      return { ...keyView(stored), key, isNewUser };
    },
    listKeys: async () => (await store.accounts.keys()).map(keyView),
    /** False if there is no such key. */
    revokeKey: (id: string) => store.accounts.removeKey(id),
    /** Every user, or the one of this name. */
    users: (name?: string) => store.accounts.accounts(name),
    /** Undefined if there is no such user; throws KeyError. */
    changeUser: (name: string, changes: UserChanges) => changeUser(store, name, changes),
    /** Publishes a prompt file; throws InvalidPromptFile, whose message names file and line. */
    publish: async (file: string) =>
      publishPrompt(await context(), await readPromptFile(file, { tasks }), file),
    /** A version to run that is not published; throws InvalidPromptFile, UnlistedFault. */
    ensureUnlistedVersion: async (wanted: UnlistedWanted) => ensureUnlistedVersion(await context(), wanted),
    /** Checks run options against the model of a version, or of a prompt's latest; throws InvalidInputs. */
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
    /** False if there is no such published prompt. */
    unpublish: (slug: string) => store.prompts.unpublish(slug),
    async close() {
      await tasks.close();
      await store.close();
    },
  };
}

/**
 * Opens the store of a data directory for as long as `use` takes.
 *
 * @throws {DataDirectoryError} if the directory can't be used, or no more, as on a disk that is full
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

/** A key as it is shown: times are ISO 8601, null while it was never used; `author` is whether its holder may publish. */
export type KeyView = ReturnType<typeof keyView>;

function keyView({ createdAt, lastUsedAt, author, ...key }: StoredKey) {
  return {
    ...key,
    author: author === 1,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
