const SERVICE = 'promptrun';

interface Entry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
  deletePassword(): Promise<boolean>;
}

/** The key kept for a profile and origin; undefined where there is no keychain, or no such key in it. */
export function readFromKeychain(profile: string, origin: string): Promise<string | undefined> {
  return attempt(profile, origin, async entry => (await entry.getPassword()) ?? undefined);
}

/** Whether the key is in the keychain now: written, and read back. */
export async function writeToKeychain(profile: string, origin: string, key: string): Promise<boolean> {
  const stored = await attempt(profile, origin, async entry => {
    await entry.setPassword(key);
    return entry.getPassword();
  });
  return stored === key;
}

export async function deleteFromKeychain(profile: string, origin: string): Promise<void> {
  await attempt(profile, origin, entry => entry.deletePassword());
}

/** Machines without a keychain, and installations without its native part, are as good as an empty one. */
async function attempt<T>(
  profile: string,
  origin: string,
  use: (entry: Entry) => Promise<T>,
): Promise<T | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // The kernel's keyring, which is taken otherwise where nothing else is there, forgets at the next start.
    const options = { linux: { store: 'secret-service' as const } };
    return await use(new AsyncEntry(SERVICE, `${profile} ${origin}`, options));
  } catch {
    return undefined;
  }
}
