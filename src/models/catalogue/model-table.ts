import path from 'node:path';
import { watchDirectory } from '../../files/watch-directory.ts';
import type { Env } from '../../utils/env.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { isSameAddress } from '../../wire/addresses.ts';
import { type DeclaredModel, listSentVariables } from '../declared-model.ts';
import { BUILT_IN_MODELS, type ModelEntry, type Provider } from '../model-entry.ts';
import { type AccessFault, findAccessFault } from '../providers/access-fault.ts';
import { guessModel } from '../providers/guessed-model.ts';
import {
  findKeyVariable,
  listConfiguredProviders,
  listKnownProviders,
  resolveProviderName,
  splitProviderPrefix,
} from '../providers/providers.ts';
import { describeMissingModel, explainMissingModel } from './missing-model.ts';
import {
  EMPTY_MODELS_FILE,
  InvalidModelsFileError,
  MODELS_FILE,
  type ModelsFile,
  type ModelsText,
  mergeModelsFiles,
  readModelsText,
} from './models-file.ts';

/** The models that the service offers now. */
export type ModelTable = Omit<WatchedModels, 'reload' | 'watch'>;

export interface RemedyOptions {
  /** True to add advice for the owner of `models.yaml` to messages; default true. */
  readonly includesRemedy?: boolean | undefined;
}

export interface ModelTableOptions {
  /** The folder of `models.yaml`. */
  readonly dataDir: string;
  /** The absolute path of a file with more models. Its names win. */
  readonly modelsFile?: string | undefined;
  /** Models that a configuration of another tool declares; their names win too. */
  readonly declaredModels?: readonly ModelsText[] | undefined;
  readonly env: Env;
  /**
   * Called with each fault of a models file: of an entry, which is left out, or of the whole file.
   */
  readonly onProblem: (error: Error) => void;
  /** True to reload `models.yaml` when it changes; default true. */
  readonly watch?: boolean;
}

/**
 * Loads the models: built-in ones, those in `models.yaml`, and those in a file that the user named.
 * A fault of `models.yaml` never throws.
 *
 * @throws {InvalidModelsFileError} if the user's file can't be read
 */
export async function loadModels(options: ModelTableOptions): Promise<ModelTable> {
  const table = new WatchedModels(options);
  await table.reload();
  await table.loadNamedModels();
  if (options.watch ?? true) table.watch();
  return table;
}

class WatchedModels {
  /** The content of `models.yaml`. */
  #modelsYaml: ModelsFile = EMPTY_MODELS_FILE;
  /** The content of the file that the user named, with the declared models. */
  #namedFile: ModelsFile = EMPTY_MODELS_FILE;
  /** The two files, merged. */
  #mergedFile: ModelsFile = EMPTY_MODELS_FILE;
  /** The text of `models.yaml`, undefined if there is none; null if it has not been read. */
  #lastText: string | undefined | null = null;
  /** True if models.yaml can't be read, so that no name may be guessed. */
  #isUnreadable = false;
  #stopWatching: () => void = () => undefined;
  readonly #listeners = new Set<() => void>();
  readonly #options: ModelTableOptions;
  readonly #modelsYamlPath: string;
  readonly #knownProviders: readonly Provider[];
  readonly #configuredProviders: readonly Provider[];

  constructor(options: ModelTableOptions) {
    this.#options = options;
    this.#modelsYamlPath = path.join(options.dataDir, MODELS_FILE);
    this.#knownProviders = listKnownProviders(options.env);
    this.#configuredProviders = listConfiguredProviders(options.env);
  }

  /** Lists the models: built-in ones first, then those in models.yaml. */
  list(): readonly ModelEntry[] {
    return [...BUILT_IN_MODELS, ...this.#mergedFile.models];
  }

  /** Returns a model by its name, an alias, or `provider/name`. */
  get(name: string): ModelEntry | undefined {
    const modelName = this.#mergedFile.aliases.get(name) ?? name;
    const describedModel = this.list().find(({ model }) => model === modelName);
    if (describedModel) return this.#withKnownProvider(describedModel);

    const isBroken = this.#isUnreadable || this.#mergedFile.brokenNames.has(modelName);
    if (isBroken || modelName.trim() === '') return undefined;
    return this.#findByPrefix(modelName) ?? this.#findByOnlyKey(modelName);
  }

  /** Explains in one line why a model doesn't exist, without paths of this machine. */
  explainMissing(name: string, { includesRemedy = true }: RemedyOptions = {}): string {
    const missingModel = {
      name,
      modelNames: this.list().map(({ model }) => model),
      providerNames: this.#listProviders().map(({ name }) => name),
      configuredProviders: this.#configuredProviders.map(({ name }) => name),
      isUnreadable: this.#isUnreadable,
      mergedFile: this.#mergedFile,
      namedFile: this.#namedFile,
    };
    return includesRemedy ? explainMissingModel(missingModel) : describeMissingModel(missingModel);
  }

  /** Returns the fault that prevents requests to a model; undefined if there is none. */
  findAccessFault({ model, provider, declaration }: ModelEntry): AccessFault | undefined {
    const { env } = this.#options;
    if (declaration) return findMissingVariableFault(model, declaration, env);
    return provider && findAccessFault(provider, env);
  }

  /**
   * Returns the capability that a process needs to run a model: the model's name, or `provider/*`
   * for one that no file describes.
   */
  getRequiredCapability({ model, provider, guessedFrom }: ModelEntry): string {
    return guessedFrom === undefined || !provider ? model : `${provider.name}/*`;
  }

  /** Returns the capabilities of this process: the models that it can run. */
  listCapabilities(): string[] {
    const usableProviders = this.#listProviders().filter(
      provider => findAccessFault(provider, this.#options.env) === undefined,
    );
    return [
      ...this.list().map(({ model }) => model),
      ...usableProviders.map(({ name }) => `${name}/*`),
    ];
  }

  /** Calls the listener after every change of the list; returns a function to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stopWatching();
    this.#listeners.clear();
  }

  watch(): void {
    const watcher = watchDirectory(this.#options.dataDir, {
      isWatched: name => name === MODELS_FILE,
      onChange: () => this.reload(),
      onError: this.#options.onProblem,
    });
    this.#stopWatching = watcher.close;
  }

  async reload(): Promise<void> {
    try {
      const text = await readModelsText(this.#modelsYamlPath).catch((error: unknown) => {
        this.#lastText = null;
        throw error;
      });
      if (text === this.#lastText) return;
      this.#lastText = text;
      this.#modelsYaml = text === undefined ? EMPTY_MODELS_FILE : await this.#parse(text);
      this.#isUnreadable = false;
      this.#mergedFile = mergeModelsFiles(this.#modelsYaml, this.#namedFile);
      this.#reportFaults(this.#modelsYaml);
    } catch (error) {
      this.#isUnreadable = this.#modelsYaml === EMPTY_MODELS_FILE;
      this.#options.onProblem(
        new Error(`models.yaml not read: ${getErrorMessage(error)}`, { cause: error }),
      );
      return;
    }
    this.#notifyListeners();
  }

  /** Reads the file that the user named, and the declared models. @throws {InvalidModelsFileError} */
  async loadNamedModels(): Promise<void> {
    const { modelsFile, declaredModels = [] } = this.#options;
    if (modelsFile === undefined && declaredModels.length === 0) return;
    const { readNamedModels } = await import('./read-models-file.ts');
    this.#namedFile = await readNamedModels(this.#options, this.#modelsYaml, this.#knownProviders);
    this.#mergedFile = mergeModelsFiles(this.#modelsYaml, this.#namedFile);
    this.#reportFaults(this.#namedFile);
    this.#notifyListeners();
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener();
  }

  #reportFaults({ faults }: ModelsFile): void {
    for (const fault of faults) {
      this.#options.onProblem(
        new InvalidModelsFileError([`${fault} (left out; the rest is used)`]),
      );
    }
  }

  async #parse(text: string): Promise<ModelsFile> {
    const { parseModelsFile } = await import('./read-models-file.ts');
    return parseModelsFile(text, this.#modelsYamlPath, this.#knownProviders);
  }

  /** Returns the providers in models.yaml, then the known ones that it does not mention. */
  #listProviders(): readonly Provider[] {
    const { providers, brokenProviderNames } = this.#mergedFile;
    const isDescribed = ({ name }: Provider): boolean =>
      brokenProviderNames.has(name) || providers.some(provider => provider.name === name);
    return [...providers, ...this.#knownProviders.filter(provider => !isDescribed(provider))];
  }

  /**
   * Replaces a model's provider by a known one with the same interface that the environment moves
   * to the same address, so that the key and other data of the known one apply.
   */
  #withKnownProvider(entry: ModelEntry): ModelEntry {
    const { provider } = entry;
    if (!provider || provider.headers) return entry;

    const knownProvider = this.#knownProviders.find(
      candidate =>
        candidate.hasCustomBaseUrl &&
        candidate.interfaceName === provider.interfaceName &&
        isSameAddress(candidate.baseUrl, provider.baseUrl) &&
        provider.keyVariables.every(variable => candidate.keyVariables.includes(variable)),
    );
    const isDescribed = this.#mergedFile.providers.some(({ name }) => name === knownProvider?.name);
    return knownProvider && !isDescribed ? { ...entry, provider: knownProvider } : entry;
  }

  /** Returns a model by `provider/id`; the id is sent unchanged. */
  #findByPrefix(name: string): ModelEntry | undefined {
    const { prefix = '', id = '' } = splitProviderPrefix(name) ?? {};
    if (prefix === '' || id === '') return undefined;

    const providers = this.#listProviders();
    const provider =
      providers.find(candidate => candidate.name === prefix) ??
      providers.find(candidate => candidate.name === resolveProviderName(prefix));
    if (!provider) return undefined;

    const describedModel = this.#mergedFile.models
      .map(entry => this.#withKnownProvider(entry))
      .find(entry => entry.provider?.name === provider.name && (entry.id ?? entry.model) === id);
    return describedModel ?? guessModel(provider, name, { id, guessedFrom: 'prefix' });
  }

  /** Returns a model without a prefix, if only one provider has a key or its own address. */
  #findByOnlyKey(name: string): ModelEntry | undefined {
    if (name.includes('/')) return undefined;

    const providersInUse = this.#listProviders().filter(({ name }) =>
      this.#configuredProviders.some(provider => provider.name === name),
    );
    const providersWithKey = providersInUse.filter(
      provider => findKeyVariable(provider, this.#options.env) !== undefined,
    );
    const [provider, ...otherProviders] =
      providersWithKey.length > 0 ? providersWithKey : providersInUse;
    if (!provider || otherProviders.length > 0) return undefined;

    return guessModel(provider, name, { id: name, guessedFrom: 'key' });
  }
}

/** Returns the fault of a declared model that sends variables which are not set. */
function findMissingVariableFault(
  model: string,
  declaration: DeclaredModel,
  env: Env,
): AccessFault | undefined {
  const missingVariables = listSentVariables(declaration).filter(name => !env[name]?.trim());
  if (missingVariables.length === 0) return undefined;
  const verb = missingVariables.length === 1 ? 'is' : 'are';
  return {
    kind: 'missing',
    message: `${missingVariables.join(' and ')} ${verb} not set, which the model ${model} sends`,
  };
}
