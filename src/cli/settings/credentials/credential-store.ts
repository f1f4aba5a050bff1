import path from 'node:path';
import type { AsyncEntry } from '@napi-rs/keyring';
import { isObject } from '../../core/json-value.ts';
import type { Clock } from '../../core/types.ts';
import { type JsonDocument, JsonFile } from '../json-file.ts';

/** Where a profile's key is kept, and the one origin it may be sent to. */
interface Credential {
  readonly origin: string;
  /** undefined if the key is in the system's keychain. */
  readonly key?: string;
  readonly keychain?: true;
}

type Credentials = { keys: Record<string, Credential> };

/** API keys by profile. */
export class CredentialStore {
  readonly #stored: JsonFile<Credentials>;

  constructor(directory: string, clock: Pick<Clock, 'sleep' | 'random'>) {
    this.#stored = new JsonFile(path.join(directory, 'credentials.json'), clock, credentialsIn);
  }

  get file(): string {
    return this.#stored.path;
  }

  /** Where a profile's key is kept; undefined if it has none. @throws {CliError} CONFIG_ERROR for a damaged file */
  find(profile: string): Credential | undefined {
    const { keys } = this.#stored.read();
    return Object.hasOwn(keys, profile) ? keys[profile] : undefined;
  }

  /** The profiles that have a key. @throws {CliError} CONFIG_ERROR for a damaged file */
  profiles(): string[] {
    return Object.keys(this.#stored.read().keys);
  }

  /** The key itself; undefined if the keychain does not give it. */
  async keyOf(profile: string, { origin, key }: Credential): Promise<string | undefined> {
    return key ?? (await inKeychain(profile, origin, entry => entry.getPassword())) ?? undefined;
  }

  /** Keeps a key in the system's keychain if that is wanted and there is one, else in the file. Says which. */
  async store(
    profile: string,
    origin: string,
    key: string,
    useKeychain: boolean,
  ): Promise<'keychain' | 'file'> {
    const before = this.find(profile);
    const isInKeychain = useKeychain && (await writeToKeychain(profile, origin, key));
    await this.#stored.update(({ keys }) => {
      keys[profile] = isInKeychain ? { origin, keychain: true } : { origin, key };
    });
    if (before?.keychain && (!isInKeychain || before.origin !== origin)) {
      await deleteFromKeychain(profile, before.origin);
    }
    return isInKeychain ? 'keychain' : 'file';
  }

  /** False if the profile had no key. */
  async forget(profile: string): Promise<boolean> {
    const credential = this.find(profile);
    if (credential === undefined) return false;
    if (credential.keychain) await deleteFromKeychain(profile, credential.origin);
    await this.#stored.update(({ keys }) => {
      delete keys[profile];
    });
    return true;
  }
}

function credentialsIn({ keys = {} }: JsonDocument): Credentials | string {
  if (!isObject(keys)) return '`keys` is not an object';
  const stray = Object.keys(keys).find(profile => !isCredential(keys[profile]));
  if (stray !== undefined) return `the entry of the profile \`${stray}\` is not understood`;
  return { keys: keys as Credentials['keys'] };
}

function isCredential(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['origin'] === 'string' &&
    (typeof value['key'] === 'string' || value['keychain'] === true)
  );
}

/** Whether the key is in the keychain now: written, and read back. */
async function writeToKeychain(profile: string, origin: string, key: string): Promise<boolean> {
  const stored = await inKeychain(profile, origin, async entry => {
    await entry.setPassword(key);
    return entry.getPassword();
  });
  return stored === key;
}

async function deleteFromKeychain(profile: string, origin: string): Promise<void> {
  await inKeychain(profile, origin, entry => entry.deletePassword());
}

/** Machines without a keychain, and installations without its native part, are as good as an empty one. */
async function inKeychain<T>(
  profile: string,
  origin: string,
  use: (entry: AsyncEntry) => Promise<T>,
): Promise<T | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // The kernel's keyring, which is taken otherwise where nothing else is there, forgets at the next start.
    const options = { linux: { store: 'secret-service' as const } };
    return await use(new AsyncEntry('promptrun', `${profile} ${origin}`, options));
  } catch {
    return undefined;
  }
}
