import path from 'node:path';
import { isObject } from '../../core/json-value.ts';
import type { Clock } from '../../core/types.ts';
import { type JsonDocument, JsonFile } from '../json-file.ts';

/** Profiles, the active one, aliases and settings, as they stand on disk. */
export class ConfigStore {
  readonly #stored: JsonFile<ConfigDocument>;
  #document: ConfigDocument | undefined;

  constructor(directory: string, clock: Pick<Clock, 'sleep' | 'random'>) {
    this.#stored = new JsonFile(path.join(directory, 'config.json'), clock, asConfigDocument);
  }

  get file(): string {
    return this.#stored.path;
  }

  /** Read once. @throws {CliError} CONFIG_ERROR if the file is damaged or can't be read */
  read(): ConfigDocument {
    this.#document ??= this.#stored.read();
    return this.#document;
  }

  /** Changes the document as it stands on disk by then. @throws {CliError} CONFIG_ERROR as `JsonFile` throws it */
  async update<T>(change: (document: ConfigDocument) => T): Promise<T> {
    return this.#stored.update(document => {
      const result = change(document);
      this.#document = document;
      return result;
    });
  }
}

export interface Profile {
  readonly baseUrl: string;
}

/** What `config.json` holds. Names are own properties: one called `constructor` is a name like any other. */
export interface ConfigDocument {
  activeProfile?: string;
  profiles: Record<string, Profile>;
  aliases: Record<string, string>;
  settings: Record<string, unknown>;
}

/** The document with empty parts filled in; a text that says what is wrong with one that is damaged. */
export function asConfigDocument(read: JsonDocument): ConfigDocument | string {
  const { activeProfile, profiles = {}, aliases = {}, settings = {} } = read;
  if (activeProfile !== undefined && typeof activeProfile !== 'string')
    return '`activeProfile` is not a string';
  if (!isObject(profiles)) return '`profiles` is not an object';
  const strayProfile = Object.keys(profiles).find(name => !isProfile(profiles[name]));
  if (strayProfile !== undefined) return `the profile \`${strayProfile}\` has no \`baseUrl\``;
  if (!isObject(aliases)) return '`aliases` is not an object';
  const strayAlias = Object.keys(aliases).find(name => typeof aliases[name] !== 'string');
  if (strayAlias !== undefined) return `the alias \`${strayAlias}\` is not a string`;
  if (!isObject(settings)) return '`settings` is not an object';
  return { ...read, profiles, aliases, settings } as unknown as ConfigDocument;
}

function isProfile(value: unknown): value is Profile {
  return isObject(value) && typeof value['baseUrl'] === 'string';
}
