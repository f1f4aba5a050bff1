import path from 'node:path';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Clock } from '../core/clock.ts';
import { configError } from '../core/errors.ts';
import {
  parseSettingValue,
  SETTINGS,
  type SettingKey,
  type SettingValues,
} from './config/setting-keys.ts';
import { CredentialStore } from './credentials/credential-store.ts';
import { type JsonDocument, JsonFile } from './json-file.ts';

interface Profile {
  readonly baseUrl: string;
}

/**
 * The content of `config.json`. Names are own properties, so that `constructor` is a name like any
 * other.
 */
type ConfigDocument = {
  activeProfile?: string;
  profiles: Record<string, Profile>;
  aliases: Record<string, string>;
  settings: Record<string, unknown>;
};

/**
 * The user's settings. Reading them loads no heavy modules; a damaged part is an error only when it
 * is needed.
 */
export class Settings {
  readonly #clock: Pick<Clock, 'sleep' | 'random'>;
  readonly #configFile: JsonFile<ConfigDocument>;
  #document: ConfigDocument | undefined;
  #credentials: CredentialStore | undefined;

  /** @param directory the configuration directory */
  constructor(
    readonly directory: string,
    clock: Pick<Clock, 'sleep' | 'random'>,
  ) {
    this.#clock = clock;
    this.#configFile = new JsonFile(
      path.join(directory, 'config.json'),
      clock,
      parseConfigDocument,
    );
  }

  /** The path of `config.json`. */
  get file(): string {
    return this.#configFile.path;
  }

  /** The keys of profiles. */
  get credentials(): CredentialStore {
    this.#credentials ??= new CredentialStore(this.directory, this.#clock);
    return this.#credentials;
  }

  get activeProfile(): string | undefined {
    return this.#read().activeProfile;
  }

  /** The profiles by name, in alphabetical order. */
  get profiles(): ReadonlyMap<string, Profile> {
    return sortByName(this.#read().profiles);
  }

  /** Short names for targets, in alphabetical order. */
  get aliases(): ReadonlyMap<string, string> {
    return sortByName(this.#read().aliases);
  }

  /** Returns the value of a setting; undefined if it is not set. @throws {CliError} CONFIG_ERROR */
  get<K extends SettingKey>(key: K): SettingValues[K] | undefined {
    const storedValue = this.#read().settings[key];
    if (storedValue === undefined) return undefined;

    const { parse, form } = SETTINGS[key];
    const value = parse(
      typeof storedValue === 'string' ? storedValue : JSON.stringify(storedValue),
    );
    if (value !== undefined) return value;

    throw configError(
      `${this.file}: the setting ${key} must be ${form}`,
      `promptrun config unset ${key}`,
    );
  }

  /**
   * Changes the current content of `config.json`.
   *
   * @throws {CliError} CONFIG_ERROR like `JsonFile`
   */
  async update<T>(change: (document: ConfigDocument) => T): Promise<T> {
    return this.#configFile.update(document => {
      const result = change(document);
      this.#document = document;
      return result;
    });
  }

  #read(): ConfigDocument {
    this.#document ??= this.#configFile.read();
    return this.#document;
  }
}

function sortByName<T>(values: Readonly<Record<string, T>>): Map<string, T> {
  return new Map(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the document with missing parts filled in; for a damaged one, a text that explains the
 * fault.
 */
function parseConfigDocument(document: JsonDocument): ConfigDocument | string {
  const { activeProfile, profiles = {}, aliases = {}, settings = {} } = document;
  if (activeProfile !== undefined && typeof activeProfile !== 'string') {
    return '`activeProfile` is not a string';
  }

  if (!isJsonObject(profiles)) return '`profiles` is not an object';

  const invalidProfile = Object.keys(profiles).find(name => !isProfile(profiles[name]));
  if (invalidProfile !== undefined) return `the profile \`${invalidProfile}\` has no \`baseUrl\``;
  if (!isJsonObject(aliases)) return '`aliases` is not an object';

  const invalidAlias = Object.keys(aliases).find(name => typeof aliases[name] !== 'string');
  if (invalidAlias !== undefined) return `the alias \`${invalidAlias}\` is not a string`;
  if (!isJsonObject(settings)) return '`settings` is not an object';
  return { ...document, profiles, aliases, settings } as ConfigDocument;
}

function isProfile(value: unknown): boolean {
  return isJsonObject(value) && typeof value['baseUrl'] === 'string';
}

/** Returns the value of a flag, else that of its setting, if any. @throws {CliError} USAGE_ERROR */
export function readFlagOrSetting(
  settings: Settings,
  key: 'concurrency' | 'rate',
  flag: string | undefined,
): number | undefined {
  return flag === undefined ? settings.get(key) : parseSettingValue(key, flag);
}
