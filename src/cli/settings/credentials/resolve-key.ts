import { CliError, configError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Address, AddressSources, Sourced } from '../config/address.ts';
import type { Settings } from '../settings.ts';

/**
 * The key to send to a base URL. A profile's stored key is only given for the origin it was stored for.
 *
 * @param askKeychain whether a key may be taken from the system's keychain, which may ask the user
 * @throws {CliError} CONFIG_ERROR with exit 3 if there is none
 */
export async function resolveKey(
  sources: AddressSources,
  address: Address & { embedded: false },
  askKeychain = true,
): Promise<Sourced> {
  const variable = environmentKey(sources, address.baseUrl);
  const stored = (): Promise<Sourced | undefined> => storedKey(sources.settings, address, askKeychain);
  const isProfileFirst = sources.globals.profile !== undefined;
  const key = isProfileFirst ? ((await stored()) ?? variable) : (variable ?? (await stored()));
  if (key === undefined) throw noKey(address);
  return { ...key, value: checkedKey(key.value, key.source) };
}

/** The key of the environment goes with the base URL of the environment, if there is one. */
function environmentKey({ globals, env }: AddressSources, baseUrl: Sourced): Sourced | undefined {
  const { PROMPTRUN_API_KEY: value, PROMPTRUN_BASE_URL: own } = env;
  if (!value) return undefined;
  const isFree = globals.profile === undefined || !own || globals.baseUrl !== undefined;
  const fits = isFree || (URL.canParse(own) && new URL(own).origin === new URL(baseUrl.value).origin);
  return fits ? { value, source: 'PROMPTRUN_API_KEY' } : undefined;
}

async function storedKey(
  settings: Settings,
  { profile, baseUrl }: Address & { embedded: false },
  askKeychain: boolean,
): Promise<Sourced | undefined> {
  if (profile === undefined) return undefined;
  const credential = settings.credentials.find(profile);
  if (credential === undefined || credential.origin !== new URL(baseUrl.value).origin) return undefined;
  const value = askKeychain ? await settings.credentials.keyOf(profile, credential) : credential.key;
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

/**
 * A key that can be sent in a header.
 *
 * @param source what gave it, named in errors; the key itself never is
 * @throws {CliError} CONFIG_ERROR
 */
export function checkedKey(key: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  if (key === '') {
    throw configError(
      `${source}: there is no key in it`,
      'Take one from a file with: promptrun login < key.txt',
    );
  }
  throw configError(
    `${source}: the key holds ${strangeness(key)}`,
    'Copy it again, without anything around it.',
  );
}

function strangeness(key: string): string {
  if (/[\r\n]/.test(key)) return 'a line break';
  return /\s/.test(key) ? 'a space' : 'characters that no key is made of';
}
