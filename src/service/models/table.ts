import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { watchDirectory } from '../files/watch-directory.ts';
import { codeOf, toError } from '../thrown.ts';
import { BUILT_IN_MODELS } from './built-in.ts';
import type { ModelEntry } from './entry.ts';
import { type Env, environmentModels, environmentProvider, guessedModel } from './environment.ts';
import { MODELS_FILE, parseModelsFile } from './file.ts';

/** The models the service offers now. */
export interface ModelTable {
  /** Built-in ones first. */
  list(): readonly ModelEntry[];
  get(name: string): ModelEntry | undefined;
  /** Tells of every change of the list; gives back how to stop. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface ModelTableOptions {
  /** Where `models.yaml` may lie. */
  readonly dataDir: string;
  readonly env: Env;
  /** Told of a models file that can't be used; the models before it stay. */
  readonly onProblem: (error: Error) => void;
  /** Whether to read `models.yaml` again when it changes; default true. */
  readonly watch?: boolean;
}

/** Reads the models: built-in, from the environment, from `models.yaml`. Never fails for a bad file. */
export async function loadModels(options: ModelTableOptions): Promise<ModelTable> {
  const table = new WatchedModels(options);
  await table.reload();
  if (options.watch ?? true) table.watch();
  return table;
}

class WatchedModels implements ModelTable {
  private fromFile: readonly ModelEntry[] = [];
  private lastText: string | undefined;
  private stopWatching: () => void = () => undefined;
  private readonly listeners = new Set<() => void>();
  private readonly file: string;

  constructor(private readonly options: ModelTableOptions) {
    this.file = path.join(options.dataDir, MODELS_FILE);
  }

  list(): readonly ModelEntry[] {
    const named = new Set(this.fromFile.map(({ model }) => model));
    const fromEnvironment = environmentModels(this.provider).filter(({ model }) => !named.has(model));
    return [...BUILT_IN_MODELS, ...this.fromFile, ...fromEnvironment];
  }

  get(name: string): ModelEntry | undefined {
    return this.list().find(({ model }) => model === name) ?? guessedModel(this.provider, name);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.stopWatching();
    this.listeners.clear();
  }

  watch(): void {
    const watching = watchDirectory(this.options.dataDir, {
      concerns: name => name === MODELS_FILE,
      onChange: () => this.reload(),
      onError: this.options.onProblem,
    });
    this.stopWatching = watching.close;
  }

  async reload(): Promise<void> {
    try {
      const text = await readIfThere(this.file);
      if (text === this.lastText) return;
      this.lastText = text;
      this.fromFile =
        text === undefined ? [] : parseModelsFile(text, this.file, this.provider ? [this.provider] : []);
    } catch (error) {
      this.options.onProblem(toError(error));
      return;
    }
    for (const listener of this.listeners) listener();
  }

  private get provider(): ReturnType<typeof environmentProvider> {
    return environmentProvider(this.options.env);
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
