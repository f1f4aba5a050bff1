import { readFileSync } from 'node:fs';
import path from 'node:path';
import type Conf from 'conf';
import { makeDirectory } from '../../files/directories.ts';
import { codeOf, messageOf } from '../../files/error-utils.ts';
import { isObject } from '../core/json-value.ts';
import { configError } from '../errors.ts';

export type JsonDocument = Record<string, unknown>;

/**
 * What a file of ours holds; undefined where there is none yet.
 *
 * @throws {CliError} CONFIG_ERROR for one that is damaged or can't be read
 */
export function readJsonFile(file: string): JsonDocument | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The parser's own message would quote the file, which may hold a key.
  }
  throw damaged(file, 'it is not a JSON object');
}

/** Says where the damage is and how to mend it. */
export function damaged(file: string, what: string): Error {
  return configError(
    `${file} is damaged: ${what}`,
    `Mend it in an editor, or start with a new one: mv '${file}' '${file}.damaged'`,
  );
}

/** Loads what writes files; loading takes longer than writing, so it is done before a lock is taken. */
export async function loadWriter(): Promise<(file: string, document: JsonDocument) => void> {
  const Conf = await loadConf();
  return (file, document) => {
    const { dir, name } = path.parse(file);
    const written = { cwd: dir, configName: name, configFileMode: 0o600 };
    try {
      makeDirectory(dir, 0o700);
      new Conf({ ...written, accessPropertiesByDotNotation: false, clearInvalidConfig: false }).store =
        document;
    } catch (error) {
      throw inaccessible(file, 'written', error);
    }
  };
}

/** @returns never a silent nothing: a file that is there and can't be read is an error */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw inaccessible(file, 'read', error);
  }
}

export function inaccessible(file: string, deed: 'read' | 'written' | 'made', cause: unknown): Error {
  const reason = messageOf(cause);
  return configError(
    `${file} can't be ${deed}: ${reason}`,
    'Check who owns it and its mode, or choose another place with PROMPTRUN_CONFIG_DIR.',
  );
}

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads `conf`. What it writes files with sends every signal to the process once more, so that one Ctrl-C would count
 * as two: its listeners are taken away again.
 */
export async function loadConf(): Promise<typeof Conf> {
  const before = new Set(ENDING_SIGNALS.flatMap(signal => process.rawListeners(signal)));
  const { default: loaded } = await import('conf');
  for (const signal of ENDING_SIGNALS) {
    for (const listener of process.rawListeners(signal)) {
      if (!before.has(listener)) process.off(signal, listener as () => void);
    }
  }
  return loaded;
}
