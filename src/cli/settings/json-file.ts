import { readFileSync } from 'node:fs';
import path from 'node:path';
import type Conf from 'conf';
import { makeDirectory } from '../../files/directories.ts';
import { codeOf, messageOf } from '../../files/error-utils.ts';
import { type Release, waitForLock } from '../../files/lock.ts';
import { isObject } from '../core/json-value.ts';
import type { Clock } from '../core/types.ts';
import { configError } from '../errors.ts';

export type JsonDocument = Record<string, unknown>;

/** A JSON file of the configuration directory: read directly, which takes a moment, and changed with `conf`. */
export class JsonFile<T extends object> {
  readonly path: string;
  readonly #clock: Pick<Clock, 'sleep' | 'random'>;
  readonly #parse: (document: JsonDocument) => T | string;
  readonly #isCache: boolean;

  /**
   * @param parse gives the content; a text that says what is wrong with a document that is damaged
   * @param isCache a file that is damaged or can't be read is as good as an empty one
   */
  constructor(
    file: string,
    clock: Pick<Clock, 'sleep' | 'random'>,
    parse: (document: JsonDocument) => T | string,
    isCache = false,
  ) {
    this.path = file;
    this.#clock = clock;
    this.#parse = parse;
    this.#isCache = isCache;
  }

  /** @throws {CliError} CONFIG_ERROR if the file is damaged or can't be read */
  read(): T {
    const content = this.#parse(this.#document());
    if (typeof content === 'string') throw this.#damaged(content);
    return content;
  }

  /**
   * Changes the content as it stands on disk by then, so that two processes lose nothing of each other's.
   *
   * @throws {CliError} CONFIG_ERROR if the file is damaged, can't be written, or is locked by others for too long
   */
  async update<R>(change: (content: T) => R): Promise<R> {
    const Config = await loadConf(); // loading takes longer than writing, so it is done before the lock is taken
    const release = await this.#lock();
    try {
      const content = this.read();
      const result = change(content);
      this.#write(Config, content);
      return result;
    } finally {
      release();
    }
  }

  #document(): JsonDocument {
    const text = this.#text();
    if (text === undefined) return {};
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
    } catch {
      // The parser's own message would quote the file, which may hold a key.
    }
    if (this.#isCache) return {};
    throw this.#damaged('it is not a JSON object');
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.path, 'utf8').replace(/^\uFEFF/, '');
    } catch (error) {
      if (this.#isCache || codeOf(error) === 'ENOENT') return undefined;
      throw inaccessible(this.path, 'read', error);
    }
  }

  #write(Config: typeof Conf, content: T): void {
    const { dir, name } = path.parse(this.path);
    const exact = { accessPropertiesByDotNotation: false, clearInvalidConfig: this.#isCache };
    try {
      new Config({ cwd: dir, configName: name, configFileMode: 0o600, ...exact }).store = Object.fromEntries(
        Object.entries(content),
      );
    } catch (error) {
      throw inaccessible(this.path, 'written', error);
    }
  }

  async #lock(): Promise<Release> {
    const directory = path.dirname(this.path);
    const lock = `${this.path}.lock`;
    try {
      makeDirectory(directory, 0o700);
    } catch (error) {
      throw inaccessible(directory, 'made', error);
    }
    const release = await waitForLock(this.path, this.#clock).catch((error: unknown) => {
      throw inaccessible(lock, 'written', error);
    });
    if (release !== undefined) return release;
    throw configError(`${lock} is held by another process`, `If none is running: rm '${lock}'`);
  }

  #damaged(what: string): Error {
    return configError(
      `${this.path} is damaged: ${what}`,
      `Mend it in an editor, or start with a new one: mv '${this.path}' '${this.path}.damaged'`,
    );
  }
}

function inaccessible(file: string, action: 'read' | 'written' | 'made', cause: unknown): Error {
  return configError(
    `${file} can't be ${action}: ${messageOf(cause)}`,
    'Check who owns it and its mode, or choose another place with PROMPTRUN_CONFIG_DIR.',
  );
}

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads `conf`. What it writes files with sends every signal to the process once more, so that one Ctrl-C would count
 * as two: its listeners are taken away again.
 */
async function loadConf(): Promise<typeof Conf> {
  const before = new Set(ENDING_SIGNALS.flatMap(signal => process.rawListeners(signal)));
  const { default: loaded } = await import('conf');
  for (const signal of ENDING_SIGNALS) {
    for (const listener of process.rawListeners(signal)) {
      if (!before.has(listener)) process.off(signal, listener as () => void);
    }
  }
  return loaded;
}
