import { readFile, stat } from 'node:fs/promises';
import { codeOf, messageOf } from '../../files/error-utils.ts';
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
  /** Models and aliases that it describes in a way that can't be used: their names are not taken for other models. */
  readonly brokenNames: ReadonlySet<string>;
  /** What takes away an entry, each as `file:line: what`, by line. */
  readonly faults: readonly string[];
}

/** Entries that stand in no file of their own. */
export interface ModelsText {
  readonly text: string;
  /** The file that they are of, absolute: it is named for faults, and `${here}` is its folder. */
  readonly file: string;
}

export const EMPTY_MODELS_FILE: ModelsFile = {
  models: [],
  aliases: new Map(),
  providers: [],
  brokenProviders: new Set(),
  brokenNames: new Set(),
  faults: [],
};

/** What two files say together; where both say something, the second wins. */
export function mergedModels(base: ModelsFile, over: ModelsFile): ModelsFile {
  const names = new Set(over.models.map(({ model }) => model));
  const providers = new Set([...over.providers.map(({ name }) => name), ...over.brokenProviders]);
  return {
    models: [...over.models, ...base.models.filter(({ model }) => !names.has(model))],
    aliases: new Map([...[...base.aliases].filter(([name]) => !names.has(name)), ...over.aliases]),
    providers: [...over.providers, ...base.providers.filter(({ name }) => !providers.has(name))],
    brokenProviders: new Set([
      ...over.brokenProviders,
      ...[...base.brokenProviders].filter(name => !providers.has(name)),
    ]),
    brokenNames: new Set([...over.brokenNames, ...[...base.brokenNames].filter(name => !names.has(name))]),
    faults: [...base.faults, ...over.faults],
  };
}

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
    return await readBounded(file, size);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The text of a models file that the user named, whoever it belongs to. @throws {InvalidModelsFile} if it can't be read */
export async function readNamedModelsText(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new Error('it is not a file');
    return await readBounded(file, stats.size);
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it is not there' : messageOf(error);
    throw new InvalidModelsFile([`the models file ${file} can't be read: ${why}`]);
  }
}

async function readBounded(file: string, size: number): Promise<string> {
  if (size > MAX_BYTES) throw new Error(`${file} is larger than 1 MiB`);
  return await readFile(file, 'utf8');
}
