import { InvalidRequestError } from '../../../client/errors.ts';
import { normalizeBaseUrl } from '../../../client/http/base-url.ts';
import type { Env } from '../../../utils/env.ts';
import { isLoopbackHost, isSameOrigin } from '../../../wire/addresses.ts';
import { CliError, configError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import type { GlobalOptions } from '../../core/global-options.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';
import { withStdinFrom } from '../../terminal/command-line.ts';
import type { Settings } from '../settings.ts';
import { LOCAL_PROFILE } from './profile-name.ts';

/** A base URL or a name, with its source. */
export interface SourcedValue {
  readonly value: string;
  /** The source for messages: `--base-url`, `PROMPTRUN_BASE_URL`, `profile work`. */
  readonly source: string;
}

/** The destination of requests: the embedded service, or a base URL. */
export type Address =
  | {
      readonly isEmbedded: true;
      readonly profile: typeof LOCAL_PROFILE;
      /** False if nothing is configured and it is only the default. */
      readonly isChosen: boolean;
    }
  | {
      readonly isEmbedded: false;
      readonly baseUrl: SourcedValue;
      /** The chosen profile, even if the base URL is not its own. */
      readonly profile: string | undefined;
    };

export interface AddressSources {
  readonly globals: Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>;
  readonly env: Env;
  readonly settings: Settings;
}

/**
 * Resolves the address from flags, then environment, then profile; `--profile` wins over the
 * environment.
 *
 * @throws {CliError} CONFIG_ERROR for a wrong base URL or profile, and for a key without a base URL
 */
export function resolveAddress(sources: AddressSources): Address {
  const { globals, env, settings } = sources;
  const profile = findChosenProfile(sources);
  const baseUrl = findExplicitBaseUrl(sources);
  if (baseUrl !== undefined) {
    const value = requireSecureBaseUrl(baseUrl.value, baseUrl.source, globals);
    return { isEmbedded: false, baseUrl: { ...baseUrl, value }, profile: profile?.value };
  }

  if (profile?.value === LOCAL_PROFILE) {
    return { isEmbedded: true, profile: LOCAL_PROFILE, isChosen: true };
  }

  if (profile !== undefined) return getProfileAddress(profile, sources);

  if (env['PROMPTRUN_API_KEY']) {
    throw configError(
      'PROMPTRUN_API_KEY is set, but no base URL',
      'Set PROMPTRUN_BASE_URL too, or give --base-url or --profile.',
    );
  }

  if (settings.profiles.size === 0) {
    return { isEmbedded: true, profile: LOCAL_PROFILE, isChosen: false };
  }

  throw configError(
    'there are profiles, but none is active',
    'Choose one with promptrun profile use <name>, or --profile <name>.',
    'The profile `local` is the embedded service.',
  );
}

/**
 * Returns the name of a service in the journal and the caches: its base URL, or `local` for the
 * embedded service.
 */
export function getServiceKey(address: Address): string {
  return address.isEmbedded ? 'local' : address.baseUrl.value;
}

/** Returns true if the embedded service is configured. */
export function usesLocalService(sources: AddressSources): boolean {
  try {
    return resolveAddress(sources).isEmbedded;
  } catch {
    return false;
  }
}

/**
 * Returns the host of the configured service; undefined for the embedded one, or if the
 * configuration is incomplete.
 */
export function findConfiguredHost(sources: AddressSources): string | undefined {
  try {
    const address = resolveAddress(sources);
    return address.isEmbedded ? undefined : new URL(address.baseUrl.value).host;
  } catch (error) {
    if (!(error instanceof CliError) || sources.globals.profile !== undefined) throw error;
    return undefined;
  }
}

/**
 * Refuses a command of the embedded service if another service is configured.
 *
 * @param command the command at the beginning of the message, such as `prompts publish`
 * @throws {CliError} USAGE_ERROR that names the way out
 */
export function requireLocalService(sources: AddressSources, command: string): void {
  const address = resolveAddress(sources);
  if (address.isEmbedded) return;
  const { value, source } = address.baseUrl;
  throw usageError(
    `${command} works only on the embedded service, but ${value} is configured by ${source}`,
    'To use the embedded service, add: --profile local',
  );
}

/** Returns the profile chosen by flag, environment or `profile use`. */
export function findChosenProfile({
  globals,
  env,
  settings,
}: AddressSources): SourcedValue | undefined {
  if (globals.profile !== undefined) return requireProfile(globals.profile, '--profile', settings);
  const profileName = env['PROMPTRUN_PROFILE'];
  if (profileName) return requireProfile(profileName, 'PROMPTRUN_PROFILE', settings);
  const { activeProfile, file } = settings;
  return activeProfile === undefined ? undefined : requireProfile(activeProfile, file, settings);
}

/** Returns the base URL of a flag or, without `--profile`, of the environment. */
export function findExplicitBaseUrl({ globals, env }: AddressSources): SourcedValue | undefined {
  if (globals.baseUrl !== undefined) return { value: globals.baseUrl, source: '--base-url' };
  const fromEnv = env['PROMPTRUN_BASE_URL'];
  return globals.profile === undefined && fromEnv
    ? { value: fromEnv, source: 'PROMPTRUN_BASE_URL' }
    : undefined;
}

function requireProfile(name: string, source: string, settings: Settings): SourcedValue {
  if (name === LOCAL_PROFILE || settings.profiles.has(name)) return { value: name, source };
  const [message, ...hints] = explainUnknownName('profile', name, [
    ...settings.profiles.keys(),
    LOCAL_PROFILE,
  ]);
  throw configError(`${source}: ${message}`, ...hints);
}

function getProfileAddress(
  { value: profile }: SourcedValue,
  { globals, settings }: AddressSources,
): Address {
  const source = `profile ${profile}`;
  const { baseUrl } = settings.profiles.get(profile) ?? { baseUrl: '' };
  const value = requireSecureBaseUrl(baseUrl, source, globals);
  return { isEmbedded: false, baseUrl: { value, source }, profile };
}

/**
 * Returns a base URL with `/v1` at the end; it must be https unless the host is this machine.
 *
 * @param source the flag, variable or profile, for messages
 * @throws {CliError} CONFIG_ERROR
 */
export function requireSecureBaseUrl(
  text: string,
  source: string,
  { insecureHttp }: Pick<GlobalOptions, 'insecureHttp'>,
): string {
  const baseUrl = parseBaseUrl(text.trim(), source);
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || insecureHttp || isLoopbackHost(hostname)) return baseUrl;
  throw configError(
    `${source}: plain http to ${host} would send the key in the clear`,
    'Use https, or --insecure-http if you must.',
  );
}

function parseBaseUrl(text: string, source: string): string {
  try {
    return normalizeBaseUrl(text);
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw configError(
      `${source}: ${error.message}`,
      'Write it like https://prompts.example.com/v1.',
    );
  }
}

/**
 * Returns the key for a base URL. A profile's stored key is returned only for the origin that it
 * was stored for.
 *
 * @param options `askKeychain`: false to leave out the system's keychain, which may ask the user
 * @throws {CliError} CONFIG_ERROR with exit 3 if there is none
 */
export async function resolveKey(
  sources: AddressSources,
  address: Address & { isEmbedded: false },
  { askKeychain = true } = {},
): Promise<SourcedValue> {
  const variable = findEnvironmentKey(sources, address.baseUrl);
  const readStoredKey = (): Promise<SourcedValue | undefined> =>
    findStoredKey(sources.settings, address, { askKeychain });
  const isProfileFirst = sources.globals.profile !== undefined;
  const key = isProfileFirst
    ? ((await readStoredKey()) ?? variable)
    : (variable ?? (await readStoredKey()));
  if (key === undefined) throw missingKeyError(address);

  return { ...key, value: requireSendableKey(key.value, key.source) };
}

/**
 * Returns the key of the environment, which belongs to the base URL of the environment, if there is
 * one.
 */
function findEnvironmentKey(
  { globals, env }: AddressSources,
  baseUrl: SourcedValue,
): SourcedValue | undefined {
  const { PROMPTRUN_API_KEY: value, PROMPTRUN_BASE_URL: ownBaseUrl } = env;
  if (!value) return undefined;
  const fitsAnyUrl = globals.profile === undefined || !ownBaseUrl || globals.baseUrl !== undefined;
  const isUsable = fitsAnyUrl || isSameOrigin(ownBaseUrl, baseUrl.value);
  return isUsable ? { value, source: 'PROMPTRUN_API_KEY' } : undefined;
}

async function findStoredKey(
  settings: Settings,
  { profile, baseUrl }: Address & { isEmbedded: false },
  { askKeychain }: { readonly askKeychain: boolean },
): Promise<SourcedValue | undefined> {
  if (profile === undefined) return undefined;

  const credential = settings.credentials.find(profile);
  if (credential === undefined || credential.origin !== new URL(baseUrl.value).origin) {
    return undefined;
  }

  const value = askKeychain
    ? await settings.credentials.readKey(profile, credential)
    : credential.key;
  return value === undefined ? undefined : { value, source: `profile ${profile}` };
}

function missingKeyError({ baseUrl, profile }: Address & { isEmbedded: false }): CliError {
  const { host, origin } = new URL(baseUrl.value);
  const login =
    profile !== undefined && baseUrl.source === `profile ${profile}`
      ? `promptrun login --profile ${profile}`
      : `promptrun login --base-url ${origin}`;
  return new CliError(`no key for ${host}, given by ${baseUrl.source}`, {
    status: 'CONFIG_ERROR',
    exitCode: EXIT.unauthorised,
    hints: [`Store one with ${login}, or set PROMPTRUN_API_KEY.`],
  });
}

/**
 * Returns a key that can be sent in a header.
 *
 * @param source the source, for messages, which never contain the key itself
 * @param login the command that stores a key, for the hint
 * @throws {CliError} CONFIG_ERROR
 */
export function requireSendableKey(key: string, source: string, login = 'promptrun login'): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  if (key === '') {
    throw configError(
      `${source}: it contains no key`,
      `Take one from a file with: ${withStdinFrom('key.txt', login)}`,
    );
  }
  throw configError(
    `${source}: the key contains ${describeInvalidPart(key)}`,
    'Copy it again, without anything around it.',
  );
}

function describeInvalidPart(key: string): string {
  if (/[\r\n]/.test(key)) return 'a line break';
  return /\s/.test(key) ? 'a space' : "characters that keys can't have";
}
