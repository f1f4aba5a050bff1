import { readdirSync } from 'node:fs';
import path from 'node:path';
import { explainExclusion } from '../../files/named-file.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import { ensureFileVersion } from '../targets/file-version.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/** A prompt as an agent sees it. */
export interface OfferedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly config: unknown;
}

/** Matches the extension of a prompt file. */
const OFFERED_FILE_EXTENSION = /\.prompt(?:\.ya?ml)?$/u;

/** The prompt files of a directory, which is read again at each call. */
export class DirectoryPrompts {
  readonly #ctx: Context;
  readonly #directory: string;
  /**
   * The last warning about each prompt file that can't be read, so that it is reported again only
   * if it changes.
   */
  readonly #warnings = new Map<string, string>();
  /** The unusable files of the directory that were reported, so that each is reported once. */
  readonly #reportedFiles = new Set<string>();

  constructor(ctx: Context, directory: string) {
    this.#ctx = ctx;
    this.#directory = directory;
  }

  /** Reads the prompt files. Leaves out the unusable ones, which it reports on standard error. */
  async list(): Promise<OfferedPrompt[]> {
    const prompts = await Promise.all(
      [...this.listFiles()].map(([name, file]) => this.#read(name, file)),
    );
    return prompts.filter(prompt => prompt !== undefined);
  }

  has(file: string): boolean {
    return [...this.listFiles().values()].includes(file);
  }

  /** Returns the paths of the prompt files by name. */
  listFiles(): Map<string, string> {
    const files = new Map<string, string>();
    for (const name of readdirSync(this.#directory).toSorted()) {
      const slug = name.replace(OFFERED_FILE_EXTENSION, '');
      const isPrompt = slug !== name && slug !== '' && !name.startsWith('_');
      const file = path.join(this.#directory, name);
      if (isPrompt && !this.#reportIfExcluded(file)) files.set(slug, file);
    }
    return files;
  }

  /** Returns true for an unusable file, which it reports on standard error. */
  #reportIfExcluded(file: string): boolean {
    const reason = explainExclusion(file, this.#directory);
    if (reason !== undefined && !this.#reportedFiles.has(file)) {
      this.#reportedFiles.add(file);
      this.#ctx.io.error(`warning: ${toOneLine(file)} is left out: ${toOneLine(reason)}`);
    }
    return reason !== undefined;
  }

  /** Reads a prompt file. Reports an unusable one on standard error and returns undefined. */
  async #read(name: string, file: string): Promise<OfferedPrompt | undefined> {
    const { signal, io } = this.#ctx;
    try {
      const { client } = await this.#ctx.localConnection();
      const { promptVersionId } = await ensureFileVersion(this.#ctx, {
        name: file,
        path: file,
        revision: undefined,
      });
      const { title, config } = await client.versions.get(promptVersionId, { signal });
      this.#warnings.delete(file);

      return { name, title, description: '', config };
    } catch (error) {
      signal.throwIfAborted();
      const warning = `warning: ${toOneLine(getErrorMessage(error))}`;
      if (this.#warnings.get(file) !== warning) io.error(warning);
      this.#warnings.set(file, warning);
      return undefined;
    }
  }
}
