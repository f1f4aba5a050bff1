import type { ModelEntry, Provider } from './entry.ts';

/** Its name in the data directory. What reads it, with its parser, is loaded only where there is one. */
export const MODELS_FILE = 'models.yaml';

/** What `models.yaml` says. */
export interface ModelsFile {
  readonly models: readonly ModelEntry[];
  /** Names that prompts may use for a model, such as those of other services. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Those that the file describes. */
  readonly providers: readonly Provider[];
}

export const EMPTY_MODELS_FILE: ModelsFile = { models: [], aliases: new Map(), providers: [] };

/** A models file that can't be used. The message is the first of its faults. */
export class InvalidModelsFile extends Error {
  override readonly name = 'InvalidModelsFile';

  constructor(
    /** Each as `file:line: what`, by line. */
    readonly faults: readonly string[],
  ) {
    super(faults[0]);
  }
}
