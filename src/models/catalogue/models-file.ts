import { readFile, stat } from 'node:fs/promises';
import { codeOf } from '../../files/error-utils.ts';
import type { ModelEntry, Provider } from '../entry.ts';

/** Its name in the data directory. What reads it, with its parser, is loaded only where there is one. */
export const MODELS_FILE = 'models.yaml';

/** What `models.yaml` says. */
export interface ModelsFile {
  readonly models: readonly ModelEntry[];
  /** Names that prompts may use for a model, such as those of other services. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Those that the file describes. */
  readonly providers: readonly Provider[];
  /** Providers that it describes in a way that can't be used: nothing is sent to others in their name. */
  readonly brokenProviders: ReadonlySet<string>;
  /** What takes away an entry, each as `file:line: what`, by line. */
  readonly faults: readonly string[];
}

export const EMPTY_MODELS_FILE: ModelsFile = {
  models: [],
  aliases: new Map(),
  providers: [],
  brokenProviders: new Set(),
  faults: [],
};

/** A models file that can't be used. The message is the first of its faults. */
export class InvalidModelsFile extends Error {
  readonly code = 'INVALID_MODELS_FILE';

  constructor(
    /** Each as `file:line: what`, by line. */
    readonly faults: readonly string[],
  ) {
    super(faults[0]);
  }
}

/** A models file is a few kilobytes; of a larger one nothing is read. */
const MAX_BYTES = 1024 * 1024;

/**
 * The text of `models.yaml`; undefined where there is none.
 *
 * @throws {Error} for one that belongs to another user (root aside), who could have keys sent to a server of theirs
 */
export async function readModelsText(file: string): Promise<string | undefined> {
  try {
    const { uid, size } = await stat(file);
    const own = process.getuid?.();
    if (own !== undefined && uid !== own && uid !== 0) {
      throw new InvalidModelsFile([
        `${file} belongs to another user and is not read: make it yours (chown), or remove it`,
      ]);
    }
    if (size > MAX_BYTES) throw new Error(`${file} is larger than 1 MiB`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
