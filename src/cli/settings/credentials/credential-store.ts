import path from 'node:path';
import type { AsyncEntry } from '@napi-rs/keyring';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { Clock } from '../../core/clock.ts';
import { type JsonDocument, JsonFile } from '../json-file.ts';

/** The place of a profile's key, and the only origin that it may be sent to. */
interface Credential {
  readonly origin: string;
  /** The key; undefined if it is in the system's keychain. */
  readonly key?: string;
  readonly keychain?: true;
}

type Credentials = { keys: Record<string, Credential> };

/** A key, with the profile and the origin that it belongs to. */
interface KeyToStore {
  readonly profile: string;
  readonly origin: string;
  readonly key: string;
  /** False to store it in the file. */
  readonly allowsKeychain: boolean;
}

/** API keys by profile. */
export class CredentialStore {
  readonly #file: JsonFile<Credentials>;

  constructor(directory: string, clock: Pick<Clock, 'sleep' | 'random'>) {
    this.#file = new JsonFile(path.join(directory, 'credentials.json'), clock, parseCredentials);
  }

  get file(): string {
    return this.#file.path;
  }

  /**
   * Returns the place of a profile's key; undefined if it has none.
   *
   * @throws {CliError} CONFIG_ERROR for a damaged file
   */
  find(profile: string): Credential | undefined {
    const { keys } = this.#file.read();
    return Object.hasOwn(keys, profile) ? keys[profile] : undefined;
  }

  /** Returns the profiles that have a key. @throws {CliError} CONFIG_ERROR for a damaged file */
  listProfiles(): string[] {
    return Object.keys(this.#file.read().keys);
  }

  /** Returns the key; undefined if the keychain does not return it. */
  async readKey(profile: string, { origin, key }: Credential): Promise<string | undefined> {
    return key ?? (await useKeychain(profile, origin, entry => entry.getPassword())) ?? undefined;
  }

  /**
   * Stores a key in the system's keychain if allowed and available, else in the file. Returns
   * which.
   */
  async store({ profile, origin, key, allowsKeychain }: KeyToStore): Promise<'keychain' | 'file'> {
    const formerCredential = this.find(profile);
    const isInKeychain = allowsKeychain && (await writeToKeychain(profile, origin, key));
    await this.#file.update(({ keys }) => {
      keys[profile] = isInKeychain ? { origin, keychain: true } : { origin, key };
    });

    if (formerCredential?.keychain && (!isInKeychain || formerCredential.origin !== origin)) {
      await deleteFromKeychain(profile, formerCredential.origin);
    }

    return isInKeychain ? 'keychain' : 'file';
  }

  /** Deletes a profile's key; returns false if it had none. */
  async forget(profile: string): Promise<boolean> {
    const credential = this.find(profile);
    if (credential === undefined) return false;
    if (credential.keychain) await deleteFromKeychain(profile, credential.origin);
    await this.#file.update(({ keys }) => {
      delete keys[profile];
    });
    return true;
  }
}

function parseCredentials({ keys = {} }: JsonDocument): Credentials | string {
  if (!isJsonObject(keys)) return '`keys` is not an object';
  const invalidProfile = Object.keys(keys).find(profile => !isCredential(keys[profile]));
  if (invalidProfile !== undefined) {
    return `the entry of the profile \`${invalidProfile}\` is not understood`;
  }
  return { keys: keys as Credentials['keys'] };
}

function isCredential(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value['origin'] === 'string' &&
    (typeof value['key'] === 'string' || value['keychain'] === true)
  );
}

/** Writes a key to the keychain; returns true if it can be read back. */
async function writeToKeychain(profile: string, origin: string, key: string): Promise<boolean> {
  const storedKey = await useKeychain(profile, origin, async entry => {
    await entry.setPassword(key);
    return entry.getPassword();
  });
  return storedKey === key;
}

async function deleteFromKeychain(profile: string, origin: string): Promise<void> {
  await useKeychain(profile, origin, entry => entry.deletePassword());
}

/** Uses the keychain. Without a keychain or its native module, behaves as if it were empty. */
async function useKeychain<T>(
  profile: string,
  origin: string,
  use: (entry: AsyncEntry) => Promise<T>,
): Promise<T | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // Without this, a machine with no other keychain would use the kernel's keyring, which is lost
    // on restart.
    const options = { linux: { store: 'secret-service' as const } };
    return await use(new AsyncEntry('promptrun', `${profile} ${origin}`, options));
  } catch {
    return undefined;
  }
}
