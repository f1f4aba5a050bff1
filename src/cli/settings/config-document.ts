import { isObject } from '../json-value.ts';
import { type JsonDocument } from './json-file.ts';

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

/** The document with empty parts filled in; a text that says what is wrong where it is none. */
export function asConfigDocument(read: JsonDocument = {}): ConfigDocument | string {
  const { activeProfile, profiles = {}, aliases = {}, settings = {} } = read;
  if (activeProfile !== undefined && typeof activeProfile !== 'string') return '`activeProfile` is no string';
  if (!isObject(profiles)) return '`profiles` is no object';
  const strayProfile = Object.keys(profiles).find(name => !isProfile(profiles[name]));
  if (strayProfile !== undefined) return `the profile \`${strayProfile}\` has no \`baseUrl\``;
  if (!isObject(aliases)) return '`aliases` is no object';
  const strayAlias = Object.keys(aliases).find(name => typeof aliases[name] !== 'string');
  if (strayAlias !== undefined) return `the alias \`${strayAlias}\` is no string`;
  if (!isObject(settings)) return '`settings` is no object';
  return { ...read, profiles, aliases, settings } as unknown as ConfigDocument;
}

function isProfile(value: unknown): value is Profile {
  return isObject(value) && typeof value['baseUrl'] === 'string';
}
