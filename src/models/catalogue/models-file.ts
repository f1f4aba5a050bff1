import { readFile, stat } from 'node:fs/promises';
import { decodeUtf8, describeEncodingFault } from '../../files/read-text.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import type { ModelEntry, Provider } from '../model-entry.ts';

/**
 * The file's name in the data directory. Its reader and the YAML parser are loaded only if it
 * exists.
 */
export const MODELS_FILE = 'models.yaml';

/** The content of `models.yaml`. */
export interface ModelsFile {
  readonly models: readonly ModelEntry[];
  /** Names that prompts may use for a model, such as those of other services. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly providers: readonly Provider[];
  /** Providers with an invalid entry; their names don't stand for known providers. */
  readonly brokenProviderNames: ReadonlySet<string>;
  /** Models and aliases with an invalid entry; their names don't stand for other models. */
  readonly brokenNames: ReadonlySet<string>;
  /** The faults of invalid entries, each as `file:line: what`, by line. */
  readonly faults: readonly string[];
}

/** A text of models.yaml's format that a configuration of another tool declares. */
export interface ModelsText {
  readonly text: string;
  /**
   * The absolute path of the configuration: faults name it, and `${here}` is its folder.
   */
  readonly file: string;
}

export const EMPTY_MODELS_FILE: ModelsFile = {
  models: [],
  aliases: new Map(),
  providers: [],
  brokenProviderNames: new Set(),
  brokenNames: new Set(),
  faults: [],
};

/** Merges two files; if both have an entry, that of the second wins, even an invalid one. */
export function mergeModelsFiles(base: ModelsFile, override: ModelsFile): ModelsFile {
  const names = new Set([...override.models.map(({ model }) => model), ...override.brokenNames]);
  const providers = new Set([
    ...override.providers.map(({ name }) => name),
    ...override.brokenProviderNames,
  ]);
  return {
    models: [...override.models, ...base.models.filter(({ model }) => !names.has(model))],
    aliases: new Map([
      ...[...base.aliases].filter(([name]) => !names.has(name)),
      ...override.aliases,
    ]),
    providers: [
      ...override.providers,
      ...base.providers.filter(({ name }) => !providers.has(name)),
    ],
    brokenProviderNames: new Set([
      ...override.brokenProviderNames,
      ...[...base.brokenProviderNames].filter(name => !providers.has(name)),
    ]),
    brokenNames: new Set([
      ...override.brokenNames,
      ...[...base.brokenNames].filter(name => !names.has(name)),
    ]),
    faults: [...base.faults, ...override.faults],
  };
}

/** A models file that can't be used. The message is the first of its faults. */
export class InvalidModelsFileError extends Error {
  readonly code = 'INVALID_MODELS_FILE';

  constructor(
    /** The faults, each as `file:line: what`, by line. */
    readonly faults: readonly string[],
  ) {
    super(faults[0]);
  }
}

const MAX_MODELS_FILE_BYTES = 1024 * 1024;

/**
 * Returns the text of `models.yaml`; undefined if there is none.
 *
 * @throws {Error} if it belongs to another user than root, who could send our keys to their own
 * server
 */
export async function readModelsText(file: string): Promise<string | undefined> {
  try {
    const { uid, size } = await stat(file);
    const ownUid = process.getuid?.();
    if (ownUid !== undefined && uid !== ownUid && uid !== 0) {
      throw new InvalidModelsFileError([
        `${file} belongs to another user and is not read: make it yours (chown), or remove it`,
      ]);
    }

    return await readBoundedText(file, size);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Returns the text of a models file that the user named; any user may own it.
 *
 * @throws {InvalidModelsFileError} if it can't be read
 */
export async function readNamedModelsText(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new Error('it is not a file');
    return await readBoundedText(file, stats.size);
  } catch (error) {
    const reason = getErrorCode(error) === 'ENOENT' ? 'it does not exist' : getErrorMessage(error);
    throw new InvalidModelsFileError([`the models file ${file} can't be read: ${reason}`]);
  }
}

async function readBoundedText(file: string, size: number): Promise<string> {
  if (size > MAX_MODELS_FILE_BYTES) throw new Error(`${file} is larger than 1 MiB`);
  const bytes = await readFile(file);
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new Error(`${file} is ${describeEncodingFault(bytes)}`);
  return text;
}
