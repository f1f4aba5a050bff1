import type { Env, GlobalOptions } from '../context.ts';
import { CliError, configError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { nearest } from '../inputs/nearest.ts';
import { checkedBaseUrl } from './address.ts';
import { checkedKey } from './key-text.ts';
import { LOCAL_PROFILE } from './names.ts';
import type { Settings } from './settings.ts';

/** A base URL or a name, and what gave it. */
export interface Sourced {
  readonly value: string;
  /** As errors name it: `--base-url`, `PROMPTRUN_BASE_URL`, `profile work`. */
  readonly source: string;
}

/** Where requests go: the service embedded in the process, or a base URL. */
export type Address =
  | { readonly embedded: true; readonly profile: typeof LOCAL_PROFILE; readonly chosen: boolean }
  | {
      readonly embedded: false;
      readonly baseUrl: Sourced;
      /** The profile that was chosen, whether or not the base URL is its own. */
      readonly profile: string | undefined;
    };

interface Asked {
  readonly globals: Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>;
  readonly env: Env;
  readonly settings: Settings;
}

/**
 * Where requests go: flags, then environment, then profile; `--profile` wins over the environment.
 *
 * @throws {CliError} CONFIG_ERROR for a wrong base URL or profile, and for a key without a base URL
 */
export function resolveAddress(asked: Asked): Address {
  const { globals, env, settings } = asked;
  const profile = chosenProfile(asked);
  const given = givenBaseUrl(asked);
  if (given !== undefined) {
    const value = checkedBaseUrl(given.value, given.source, globals.insecureHttp);
    return { embedded: false, baseUrl: { ...given, value }, profile: profile?.value };
  }
  if (profile?.value === LOCAL_PROFILE) return { embedded: true, profile: LOCAL_PROFILE, chosen: true };
  if (profile !== undefined) return addressOf(profile, asked);
  if (env['PROMPTRUN_API_KEY']) {
    throw configError(
      'PROMPTRUN_API_KEY is set, but no base URL',
      'Set PROMPTRUN_BASE_URL too, or give --base-url or --profile.',
    );
  }
  if (settings.profiles.entries().length === 0)
    return { embedded: true, profile: LOCAL_PROFILE, chosen: false };
  throw configError(
    'there are profiles, but none is active',
    'Choose one with promptrun profile use <name>, or --profile <name>.',
    'The service built in is the profile `local`.',
  );
}

/**
 * The key to send to a base URL. A profile's stored key is only given for the origin it was stored for.
 *
 * @throws {CliError} CONFIG_ERROR with exit 3 where there is none
 */
export async function resolveKey(asked: Asked, address: Address & { embedded: false }): Promise<Sourced> {
  const fromEnv = asked.env['PROMPTRUN_API_KEY'] || undefined;
  const stored = (): Promise<Sourced | undefined> => storedKey(asked.settings, address);
  const fits = fromEnv !== undefined && environmentKeyFits(asked, address.baseUrl);
  const variable = (): Sourced => ({ value: fromEnv ?? '', source: 'PROMPTRUN_API_KEY' });
  const profileFirst = asked.globals.profile !== undefined;
  const found = profileFirst
    ? ((await stored()) ?? (fits ? variable() : undefined))
    : fits
      ? variable()
      : await stored();
  if (found === undefined) throw noKey(address);
  return { ...found, value: checkedKey(found.value, found.source) };
}

/** The profile chosen by flag, environment or `profile use`. */
export function chosenProfile({ globals, env, settings }: Asked): Sourced | undefined {
  if (globals.profile !== undefined) return known(globals.profile, '--profile', settings);
  const named = env['PROMPTRUN_PROFILE'];
  if (named) return known(named, 'PROMPTRUN_PROFILE', settings);
  const { activeProfile } = settings.config.read();
  return activeProfile === undefined ? undefined : known(activeProfile, settings.config.file, settings);
}

function givenBaseUrl({ globals, env }: Asked): Sourced | undefined {
  if (globals.baseUrl !== undefined) return { value: globals.baseUrl, source: '--base-url' };
  const fromEnv = env['PROMPTRUN_BASE_URL'];
  return globals.profile === undefined && fromEnv
    ? { value: fromEnv, source: 'PROMPTRUN_BASE_URL' }
    : undefined;
}

function known(name: string, source: string, settings: Settings): Sourced {
  if (name === LOCAL_PROFILE || settings.profiles.get(name) !== undefined) return { value: name, source };
  const names = [...settings.profiles.entries().map(([profile]) => profile), LOCAL_PROFILE];
  const like = nearest(name, names);
  throw configError(
    `${source}: there is no profile '${name}'`,
    ...(like === undefined ? [] : [`Did you mean ${like}?`]),
    `Profiles: ${names.join(', ')}`,
  );
}

function addressOf({ value: profile }: Sourced, { globals, settings }: Asked): Address {
  const source = `profile ${profile}`;
  const { baseUrl } = settings.profiles.get(profile) ?? { baseUrl: '' };
  const value = checkedBaseUrl(baseUrl, source, globals.insecureHttp);
  return { embedded: false, baseUrl: { value, source }, profile };
}

/** The key of the environment goes with the base URL of the environment, if there is one. */
function environmentKeyFits({ globals, env }: Asked, { value }: Sourced): boolean {
  const own = env['PROMPTRUN_BASE_URL'];
  if (globals.profile === undefined || !own || globals.baseUrl !== undefined) return true;
  return URL.canParse(own) && new URL(own).origin === new URL(value).origin;
}

async function storedKey(
  settings: Settings,
  { profile, baseUrl }: Address & { embedded: false },
): Promise<Sourced | undefined> {
  if (profile === undefined) return undefined;
  const credential = settings.credentials.find(profile);
  if (credential === undefined || credential.origin !== new URL(baseUrl.value).origin) return undefined;
  const value = await settings.credentials.keyOf(profile, credential);
  return value === undefined ? undefined : { value, source: `profile ${profile}` };
}

function noKey({ baseUrl, profile }: Address & { embedded: false }): CliError {
  const { host, origin } = new URL(baseUrl.value);
  const login =
    profile !== undefined && baseUrl.source === `profile ${profile}`
      ? `promptrun login --profile ${profile}`
      : `promptrun login --base-url ${origin}`;
  return new CliError(`there is no key for ${host}, given by ${baseUrl.source}`, {
    status: 'CONFIG_ERROR',
    exitCode: EXIT.unauthorised,
    hints: [`Store one with ${login}, or set PROMPTRUN_API_KEY.`],
  });
}
