import type { Clock } from '../core/types.ts';
import { configError } from '../errors.ts';
import { ConfigStore, type Profile } from './config/config-store.ts';
import { SETTINGS, type SettingKey, type SettingValues, settingValue } from './config/setting-keys.ts';
import { CredentialStore } from './credentials/credential-store.ts';

/** What the user set on this machine. Reading loads nothing heavy; what is damaged is an error when it is needed. */
export interface Settings {
  /** The configuration directory. */
  readonly directory: string;
  readonly config: ConfigStore;
  readonly credentials: CredentialStore;
  /** Short names for targets. */
  readonly aliases: NamedValues<string>;
  readonly profiles: NamedValues<Profile>;
  /** The value of a setting; undefined if it is not set. @throws {CliError} CONFIG_ERROR */
  get<K extends SettingKey>(key: K): SettingValues[K] | undefined;
}

export interface NamedValues<T> {
  get(name: string): T | undefined;
  /** By name, in alphabetical order. */
  entries(): readonly (readonly [name: string, value: T])[];
}

export function openSettings(directory: string, clock: Pick<Clock, 'sleep' | 'random'>): Settings {
  const config = new ConfigStore(directory, clock);
  return {
    directory,
    config,
    credentials: new CredentialStore(directory, clock),
    aliases: named(() => config.read().aliases),
    profiles: named(() => config.read().profiles),
    get: key => storedSetting(config, key),
  };
}

function named<T>(read: () => Record<string, T>): NamedValues<T> {
  return {
    get: name => (Object.hasOwn(read(), name) ? read()[name] : undefined),
    entries: () => Object.entries(read()).sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

function storedSetting<K extends SettingKey>(config: ConfigStore, key: K): SettingValues[K] | undefined {
  const stored = config.read().settings[key];
  if (stored === undefined) return undefined;
  const value = SETTINGS[key].parse(typeof stored === 'string' ? stored : JSON.stringify(stored));
  if (value !== undefined) return value;
  throw configError(
    `${config.file}: the setting ${key} must be ${SETTINGS[key].form}`,
    `promptrun config unset ${key}`,
  );
}

/** A flag that has a setting: the flag's value, else the setting's, if any. @throws {CliError} USAGE_ERROR */
export function flagOrSetting(
  settings: Settings,
  key: 'concurrency' | 'rate',
  flag: string | undefined,
): number | undefined {
  return flag === undefined ? settings.get(key) : settingValue(key, flag);
}
