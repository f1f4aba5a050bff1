import { loadModels, type ModelTable } from '../models/catalogue/model-table.ts';
import type { ModelsText } from '../models/catalogue/models-file.ts';
import { InvalidInputsError, type PromptDefinition } from '../prompts/definition.ts';
import { type PromptTasks, SharedTasks } from '../prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../prompts/tasks/read-prompt.ts';
import type { Env } from '../utils/env.ts';
import { type Clock, serviceClock } from './core/clock.ts';
import { Refusal } from './core/refusal.ts';
import { changeUser, createKey, ensureLocalUser, type NewKeyOptions } from './keys/keys.ts';
import { Definitions } from './prompts/definitions.ts';
import { type PublishContext, type PublishedFile, publishPrompt } from './prompts/publish.ts';
import { seedSamples } from './prompts/seed-samples.ts';
import {
  ensureUnlistedVersion,
  type UnlistedRequest,
  type UnlistedVersion,
} from './prompts/unlisted.ts';
import { checkRunOptions } from './runs/run-request.ts';
import type { StoredKey, UserChanges, UserSummary } from './store/accounts-store.ts';
import { openDatabase } from './store/open-database.ts';
import type { Store } from './store/store.ts';
import { wrapStoreFault } from './store/store-errors.ts';

export { isStoreInUse } from './store/sqlite/locked-workers.ts';

export interface LocalStoreOptions {
  readonly dataDir: string;
  /** The URL of a PostgreSQL database; default an SQLite file in the data directory. */
  readonly databaseUrl?: string | undefined;
  /** The absolute path of a file with more models. */
  readonly modelsFile?: string | undefined;
  /** More models, which come from no file. */
  readonly declaredModels?: readonly ModelsText[] | undefined;
  readonly env?: Env;
  readonly clock?: Clock;
  /** Called with each fault of models.yaml. */
  readonly onNotice?: (line: string) => void;
  /** The model for prompt files that name none; default `echo`. */
  readonly defaultModel?: string | undefined;
  /** Tasks that stay open when the store is closed; by default, it has its own and closes them. */
  readonly tasks?: PromptTasks | undefined;
}

/**
 * Opens the store of a data directory, which running services may have open too.
 *
 * @throws {DataDirectoryError} if the directory can't be used
 */
export async function openStore(options: LocalStoreOptions): Promise<LocalStore> {
  const { dataDir, databaseUrl, env = {}, clock = serviceClock } = options;
  const store = await openDatabase({ dataDir, databaseUrl, clock, env });
  try {
    await ensureLocalUser(store);
    await seedSamples(store, clock);
    return new LocalStore(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The local store without a service, for commands on keys and prompts. */
export class LocalStore {
  readonly #store: Store;
  readonly #options: LocalStoreOptions;
  readonly #clock: Clock;
  readonly #tasks: PromptTasks;
  readonly #definitions: Definitions;

  constructor(store: Store, options: LocalStoreOptions) {
    this.#store = store;
    this.#options = options;
    this.#clock = options.clock ?? serviceClock;
    this.#tasks = options.tasks ?? new SharedTasks({ isForOneUser: true });
    this.#definitions = new Definitions(store, this.#tasks);
  }

  /** Returns the definition of a published or unlisted version; undefined if there is none. */
  async findDefinition(promptVersionId: string): Promise<PromptDefinition | undefined> {
    const version = await this.#store.prompts.findVersion(promptVersionId.toLowerCase());
    return version && (await this.#definitions.getByVersion(version));
  }

  /** Creates a key, and its user if necessary. */
  async createKey(options: NewKeyOptions) {
    const { key, isNewUser, ...storedKey } = await createKey(this.#store, this.#clock, options);
    return { ...toKeyView(storedKey), key, isNewUser };
  }

  async listKeys(): Promise<KeyView[]> {
    return (await this.#store.accounts.listKeys()).map(toKeyView);
  }

  /** Returns false if the key doesn't exist. */
  revokeKey(id: string): Promise<boolean> {
    return this.#store.accounts.removeKey(id);
  }

  /** Returns all users, or the one with this name. */
  listUsers(name?: string): Promise<UserSummary[]> {
    return this.#store.accounts.listUsers(name);
  }

  /**
   * Changes plan or credits and returns the user; undefined if the user doesn't exist.
   *
   * @throws {AccountError} if more credits would be taken away than the user has
   */
  changeUser(name: string, changes: UserChanges): Promise<UserSummary | undefined> {
    return changeUser(this.#store, name, changes);
  }

  /** Publishes a prompt file. @throws {InvalidPromptFileError} whose message names file and line */
  async publish(file: string): Promise<PublishedFile> {
    const context = await this.#loadPublishContext();
    return await publishPrompt(context, await readPromptFile(file, { tasks: this.#tasks }), file);
  }

  /**
   * Stores a version that can be run but is not published.
   *
   * @throws {InvalidPromptFileError | UnlistedFault}
   */
  async ensureUnlistedVersion(request: UnlistedRequest): Promise<UnlistedVersion> {
    return await ensureUnlistedVersion(await this.#loadPublishContext(), request);
  }

  /**
   * Checks run options against the model of a version, or of a prompt's latest version.
   *
   * @throws {InvalidInputsError}
   */
  async checkRunOptions(id: string, options: Readonly<Record<string, string>>): Promise<void> {
    const { prompts } = this.#store;
    const storedId = id.toLowerCase();
    const version = (await prompts.findVersion(storedId)) ?? (await prompts.findLatest(storedId));
    const model = version && (await this.#loadModels()).get(version.model);
    if (!model) return;

    try {
      checkRunOptions({ ...options }, model);
    } catch (error) {
      throw error instanceof Refusal ? new InvalidInputsError([error.message]) : error;
    }
  }

  /** Returns false if the published prompt doesn't exist. */
  unpublish(slug: string): Promise<boolean> {
    return this.#store.prompts.unpublish(slug);
  }

  async close(): Promise<void> {
    try {
      if (this.#options.tasks === undefined) await this.#tasks.close();
    } finally {
      await this.#store.close();
    }
  }

  async #loadPublishContext(): Promise<PublishContext> {
    const { defaultModel } = this.#options;
    const models = await this.#loadModels();
    return { store: this.#store, clock: this.#clock, tasks: this.#tasks, models, defaultModel };
  }

  #loadModels(): Promise<ModelTable> {
    const { dataDir, modelsFile, declaredModels, env = {}, onNotice } = this.#options;
    return loadModels({
      dataDir,
      modelsFile,
      declaredModels,
      env,
      watch: false,
      onProblem: error => onNotice?.(error.message),
    });
  }
}

/**
 * Calls `work` with the store of a data directory, then closes the store.
 *
 * @throws {DataDirectoryError} if the directory can't be used, for example because the disk has
 * become full
 */
export async function withStore<T>(
  options: LocalStoreOptions,
  work: (store: LocalStore) => Promise<T>,
): Promise<T> {
  let store: LocalStore | undefined;
  try {
    store = await openStore(options);
    return await work(store);
  } catch (error) {
    throw wrapStoreFault(options.dataDir, error);
  } finally {
    await store?.close();
  }
}

/**
 * A key as it is displayed, with ISO 8601 times. `lastUsedAt` is null if the key was never used.
 * `author` is true if its holder may publish.
 */
export type KeyView = ReturnType<typeof toKeyView>;

function toKeyView({ createdAt, lastUsedAt, author, ...key }: StoredKey) {
  return {
    ...key,
    author: author === 1,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
