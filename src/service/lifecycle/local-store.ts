import { type Clock, systemClock } from '../clock.ts';
import { changeUser, createKey, localUser, type NewKey } from '../keys/keys.ts';
import { loadModels, type ModelTable } from '../models/table.ts';
import type { Env } from '../outgoing/proxy.ts';
import { type LocalPrompts, localPrompts } from '../prompts/local-prompts.ts';
import { type Published, publishPrompt } from '../prompts/publish.ts';
import { readPromptFile } from '../prompts/read-prompt.ts';
import { seedSamples } from '../prompts/samples.ts';
import { type PromptTasks, SharedTasks } from '../prompts/tasks/prompt-tasks.ts';
import { ensureUnlistedVersion, type UnlistedVersion, type UnlistedWanted } from '../prompts/unlisted.ts';
import type { Account, StoredKey, UserChanges } from '../store/accounts-store.ts';
import { openDatabase } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Plan } from '../store/tables.ts';

/** A key as it is shown; times are ISO 8601. */
export interface KeyView {
  id: string;
  user: string;
  plan: Plan;
  credits: number;
  createdAt: string;
  /** null while never used. */
  lastUsedAt: string | null;
  /** Whether its holder may publish. */
  author: boolean;
}

/** The local store without a service over it, for keys and prompts. */
export interface LocalStore extends LocalPrompts {
  /** Makes a key, and its user where there is none. */
  createKey(options: NewKey): Promise<KeyView & { key: string; isNewUser: boolean }>;
  listKeys(): Promise<KeyView[]>;
  /** False if there is no such key. */
  revokeKey(id: string): Promise<boolean>;
  /** Every user, or the one of this name. */
  users(name?: string): Promise<Account[]>;
  /** Undefined if there is no such user; throws KeyError. */
  changeUser(name: string, changes: UserChanges): Promise<Account | undefined>;
  /** Publishes a prompt file; throws InvalidPromptFile, whose message names file and line. */
  publish(file: string): Promise<Published>;
  /** A version to run that is not published; throws InvalidPromptFile, UnlistedFault. */
  ensureUnlistedVersion(wanted: UnlistedWanted): Promise<UnlistedVersion>;
  /** False if there is no such published prompt. */
  unpublish(slug: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens the store of a data directory beside services that may be running on it.
 *
 * @throws {DataDirectoryError} where the directory can't be used
 */
export async function openStore({
  dataDir,
  database,
  env = {},
  clock = systemClock,
  onNotice = () => {},
}: {
  dataDir: string;
  /** A URL of PostgreSQL; default the file in the data directory. */
  database?: string | undefined;
  env?: Env;
  clock?: Clock;
  /** Called with each fault of models.yaml. */
  onNotice?: (line: string) => void;
}): Promise<LocalStore> {
  const store = await openDatabase({ dataDir, database, clock });
  await localUser(store);
  await seedSamples(store, clock);
  const models = async () =>
    await loadModels({ dataDir, env, watch: false, onProblem: error => onNotice(error.message) });
  return localStore(store, clock, models, new SharedTasks({ readsFiles: true }));
}

function localStore(
  store: Store,
  clock: Clock,
  models: () => Promise<ModelTable>,
  tasks: PromptTasks,
): LocalStore {
  return {
    ...localPrompts(store, models, tasks),
    async createKey(options) {
      const { key, isNewUser, ...stored } = await createKey(store, clock, options);
      return { ...keyView(stored), key, isNewUser };
    },
    listKeys: async () => (await store.accounts.keys()).map(keyView),
    revokeKey: id => store.accounts.removeKey(id),
    users: name => store.accounts.accounts(name),
    changeUser: (name, changes) => changeUser(store, name, changes),
    async publish(file) {
      const definition = await readPromptFile(file, { tasks });
      return await publishPrompt({ store, clock, tasks, models: await models() }, definition, file);
    },
    ensureUnlistedVersion: async wanted =>
      await ensureUnlistedVersion({ store, clock, tasks, models: await models() }, wanted),
    unpublish: slug => store.prompts.unpublish(slug),
    async close() {
      await tasks.close();
      await store.close();
    },
  };
}

function keyView({ createdAt, lastUsedAt, author, ...key }: StoredKey): KeyView {
  return {
    ...key,
    author: author === 1,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
