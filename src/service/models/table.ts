import path from 'node:path';
import { messageOf, toError } from '../../files/error-utils.ts';
import { watchDirectory } from '../files/watch-directory.ts';
import type { Env } from '../outgoing/proxy.ts';
import { BUILT_IN_MODELS, type ModelEntry, type Provider } from './entry.ts';
import { environmentProvider, guessedModel, OPENAI } from './environment.ts';
import { EMPTY_MODELS_FILE, MODELS_FILE, type ModelsFile, readModelsText } from './models-file.ts';

/** The models the service offers now. */
export interface ModelTable {
  /** Built-in ones first. */
  list(): readonly ModelEntry[];
  /** A model by its name or an alias of it. */
  get(name: string): ModelEntry | undefined;
  /** Why a model is not there and how to have it, as one line. */
  explainMissing(name: string): string;
  /** Calls the listener after every change of the list; returns how to stop. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface ModelTableOptions {
  /** Where `models.yaml` may lie. */
  readonly dataDir: string;
  readonly env: Env;
  /** Called with a models file that can't be used; the models before it stay. */
  readonly onProblem: (error: Error) => void;
  /** Whether to read `models.yaml` again when it changes; default true. */
  readonly watch?: boolean;
}

/** Reads the models: built-in and from `models.yaml`. Never fails for a bad file. */
export async function loadModels(options: ModelTableOptions): Promise<ModelTable> {
  const table = new WatchedModels(options);
  await table.reload();
  if (options.watch ?? true) table.watch();
  return table;
}

class WatchedModels implements ModelTable {
  private fromFile: ModelsFile = EMPTY_MODELS_FILE;
  private lastText: string | undefined;
  /** Why the file, or the environment, is not what the models are. */
  private readonly problems: { file?: string; environment?: string } = {};
  private readonly provider: Provider | undefined;
  private stopWatching: () => void = () => undefined;
  private readonly listeners = new Set<() => void>();
  private readonly file: string;

  constructor(private readonly options: ModelTableOptions) {
    this.file = path.join(options.dataDir, MODELS_FILE);
    try {
      this.provider = environmentProvider(options.env);
    } catch (error) {
      this.problems.environment = messageOf(error);
      options.onProblem(toError(error));
    }
  }

  list(): readonly ModelEntry[] {
    return [...BUILT_IN_MODELS, ...this.fromFile.models];
  }

  get(name: string): ModelEntry | undefined {
    const found = this.find(this.fromFile.aliases.get(name) ?? name);
    // Once there is a file, it says what there is.
    return found ?? (this.lastText === undefined ? guessedModel(this.provider, name) : undefined);
  }

  explainMissing(name: string): string {
    const known = this.list().map(({ model }) => model);
    const { file, environment } = this.problems;
    const reasons = [`there is no model \`${name}\`: there are ${known.join(', ')}`];
    reasons.push(...[file, environment].filter(problem => problem !== undefined));
    if (file === undefined) {
      reasons.push('promptrun models discover writes the models of your endpoints to models.yaml');
    }
    if (name.includes('/')) {
      reasons.push(`to run it with another model, add to ${this.file}: modelAliases: {${name}: <model>}`);
    }
    return reasons.join('; ');
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
      const text = await readModelsText(this.file);
      if (text === this.lastText) return;
      this.lastText = text;
      this.fromFile = text === undefined ? EMPTY_MODELS_FILE : await this.parse(text);
      delete this.problems.file;
    } catch (error) {
      this.problems.file = messageOf(error);
      this.options.onProblem(toError(error));
      return;
    }
    for (const listener of this.listeners) listener();
  }

  private async parse(text: string): Promise<ModelsFile> {
    const { parseModelsFile } = await import('./file.ts');
    return parseModelsFile(text, this.file, [this.provider ?? OPENAI]);
  }

  private find(name: string): ModelEntry | undefined {
    return this.list().find(({ model }) => model === name);
  }
}
