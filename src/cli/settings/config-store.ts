import path from 'node:path';
import type { Clock } from '../context.ts';
import { asConfigDocument, type ConfigDocument } from './config-document.ts';
import { damaged, type JsonDocument, loadWriter, readJsonFile } from './json-file.ts';
import { withLock } from './lock.ts';

/** Profiles, the active one, aliases and settings, as they stand on disk. */
export class ConfigStore {
  readonly file: string;
  readonly #clock: Pick<Clock, 'sleep' | 'random'>;
  #document: ConfigDocument | undefined;

  constructor(directory: string, clock: Pick<Clock, 'sleep' | 'random'>) {
    this.file = path.join(directory, 'config.json');
    this.#clock = clock;
  }

  /** Read once. @throws {CliError} CONFIG_ERROR for a file that is damaged or can't be read */
  read(): ConfigDocument {
    this.#document ??= this.#fromDisk();
    return this.#document;
  }

  /** Changes the document as it stands on disk by then, so that two processes lose nothing of each other's. */
  async update<T>(change: (document: ConfigDocument) => T): Promise<T> {
    const write = await loadWriter();
    return withLock(this.file, this.#clock, () => {
      const document = this.#fromDisk();
      const result = change(document);
      write(this.file, document as unknown as JsonDocument);
      this.#document = document;
      return result;
    });
  }

  #fromDisk(): ConfigDocument {
    const document = asConfigDocument(readJsonFile(this.file));
    if (typeof document === 'string') throw damaged(this.file, document);
    return document;
  }
}
