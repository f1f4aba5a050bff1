import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Release, waitForLock } from '../../files/writing/lock.ts';
import { makeDirectory, toContainedPath } from '../../files/writing/write-below.ts';
import { replaceFileSync } from '../../files/writing/write-file.ts';
import { isJsonObject, type UncheckedObject } from '../../utils/bounded-json.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import type { Clock } from '../core/clock.ts';
import { configError, unwritableError } from '../core/errors.ts';

export type JsonDocument = Record<string, unknown>;

/**
 * A JSON file in the configuration directory. It is read directly, which is fast, and changed with
 * `conf`.
 */
export class JsonFile<T extends JsonDocument> {
  readonly path: string;
  readonly #clock: Pick<Clock, 'sleep' | 'random'>;
  readonly #parse: (document: JsonDocument) => T | string;

  /** @param parse returns the content or, for a damaged document, a text that explains the fault */
  constructor(
    file: string,
    clock: Pick<Clock, 'sleep' | 'random'>,
    parse: (document: JsonDocument) => T | string,
  ) {
    this.path = file;
    this.#clock = clock;
    this.#parse = parse;
  }

  /** @throws {CliError} CONFIG_ERROR if the file is damaged or can't be read */
  read(): T {
    const content = this.#parse(this.#readDocument());
    if (typeof content === 'string') throw this.#damagedError(content);
    return content;
  }

  /**
   * Changes the current content under a lock, so that two processes don't lose each other's
   * changes.
   *
   * @throws {CliError} CONFIG_ERROR if the file is damaged, can't be written, or stays locked for
   * too long
   */
  async update<R>(change: (content: T) => R): Promise<R> {
    const Conf = await loadConf(); // loading takes longer than writing, so it is done before the lock is taken
    const release = await this.#lock();
    try {
      const content = this.read();
      const result = change(content);

      const { dir: cwd, name: configName } = path.parse(this.path);
      explainFileError(this.path, 'written', () => {
        new Conf({
          cwd,
          configName,
          configFileMode: 0o600,
          accessPropertiesByDotNotation: false,
        }).store = content;
      });

      return result;
    } finally {
      release();
    }
  }

  #readDocument(): JsonDocument {
    const text = explainFileError(this.path, 'read', () => readJsonFileText(this.path));
    if (text === undefined) return {};

    try {
      const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
      if (isJsonObject(value)) return value;
    } catch {
      // The parser's own message would quote the file, which may contain a key.
    }

    throw this.#damagedError('it is not a JSON object');
  }

  async #lock(): Promise<Release> {
    const directory = path.dirname(this.path);
    const lock = `${this.path}.lock`;
    explainFileError(directory, 'made', () => makeDirectory(directory, 0o700));
    const release = await waitForLock(toContainedPath(this.path), this.#clock).catch(
      (error: unknown) => {
        throw inaccessibleError(lock, 'written', error);
      },
    );
    if (release !== undefined) return release;

    throw configError(
      `${lock} is held by another process`,
      'If none is running, remove that file.',
    );
  }

  #damagedError(problem: string): Error {
    return configError(
      `${this.path} is damaged: ${problem}`,
      'Repair it in an editor, or rename it to start with a new one.',
    );
  }
}

function readJsonFileText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Runs `work`. @throws {CliError} CONFIG_ERROR that names the failed action */
function explainFileError<T>(file: string, action: 'read' | 'written' | 'made', work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw inaccessibleError(file, action, error);
  }
}

function inaccessibleError(
  file: string,
  action: 'read' | 'written' | 'made',
  cause: unknown,
): Error {
  const whatToCheck =
    process.platform === 'win32' ? "that it isn't read-only" : 'who owns it and its mode';
  const otherPlaceHint = 'or choose another place with PROMPTRUN_CONFIG_DIR.';
  const accessError = configError(
    `${file} can't be ${action}: ${getErrorMessage(cause)}`,
    `Check ${whatToCheck}, ${otherPlaceHint}`,
  );
  return unwritableError(cause, accessError, `Free some disk space, ${otherPlaceHint}`);
}

const UNLOCKING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads `conf` and removes the signal listeners of its file writer, which would send every signal
 * to the process again, so that one Ctrl-C would count as two.
 */
async function loadConf() {
  const listenersBefore = new Set(
    UNLOCKING_SIGNALS.flatMap(signal => process.rawListeners(signal)),
  );
  const { default: Conf } = await import('conf');

  for (const signal of UNLOCKING_SIGNALS) {
    for (const listener of process.rawListeners(signal)) {
      if (!listenersBefore.has(listener)) process.off(signal, listener as () => void);
    }
  }

  return Conf;
}

/**
 * Reads a cache file; empty if it is missing or damaged, because a cache is simply filled again.
 */
export function readCacheFile(file: string): UncheckedObject {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isJsonObject(content) ? content : {};
  } catch {
    return {};
  }
}

/** Replaces a cache file with mode 0600. @throws errors of the file system */
export function writeCacheFile(file: string, content: UncheckedObject): void {
  makeDirectory(path.dirname(file), 0o700);
  replaceFileSync(file, JSON.stringify(content), 0o600);
}
