import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  CredentialStore,
  type KeychainEntry,
} from '../../../../src/cli/settings/credentials/credential-store.ts';
import { createTemporaryDirectory, testClock } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

const PLAY_KEY = { profile: 'play', origin: 'https://a.test', key: 'secret' };

/** A keychain in memory: no test may write to that of the machine. */
class MemoryKeychain {
  readonly keys = new Map<string, string>();

  readonly open = async (name: string): Promise<KeychainEntry> => ({
    getPassword: async () => this.keys.get(name) ?? null,
    setPassword: async key => void this.keys.set(name, key),
    deletePassword: async () => this.keys.delete(name),
  });
}

async function rejectKeychain(): Promise<never> {
  throw new Error('no keychain');
}

function storeIn(
  directory: string,
  openEntry: (name: string) => Promise<KeychainEntry> = rejectKeychain,
): CredentialStore {
  return new CredentialStore(directory, testClock(), openEntry);
}

it.runIf(isPosix)(
  'keeps a key with its origin, for the owner only, until it is forgotten',
  async () => {
    const store = storeIn(createTemporaryDirectory());
    const keptIn = await store.store({
      profile: 'work',
      origin: 'https://a.test',
      key: 'secret',
      allowsKeychain: false,
    });

    expect(keptIn).toBe('file');

    const credential = store.find('work');
    expect(credential).toEqual({ origin: 'https://a.test', key: 'secret' });
    expect(statSync(store.file).mode & 0o777).toBe(0o600);

    expect(await store.forget('work')).toBe(true);
    expect(store.find('work')).toBeUndefined();
    expect(await store.forget('work')).toBe(false);
    expect(readFileSync(store.file, 'utf8')).not.toContain('secret');
  },
);

it('stores a key in the keychain, and only its place in the file', async () => {
  const keychain = new MemoryKeychain();
  const store = storeIn(createTemporaryDirectory(), keychain.open);
  const keptIn = await store.store({ ...PLAY_KEY, allowsKeychain: true });
  const credential = store.find('play');

  expect(keptIn).toBe('keychain');
  expect(credential).toEqual({ origin: 'https://a.test', keychain: true });
  expect(credential && (await store.readKey('play', credential))).toBe('secret');
  expect(readFileSync(store.file, 'utf8')).not.toContain('secret');

  expect(await store.forget('play')).toBe(true);
  expect(keychain.keys.size).toBe(0);
});

it('deletes a key from the keychain once another is stored in the file', async () => {
  const keychain = new MemoryKeychain();
  const store = storeIn(createTemporaryDirectory(), keychain.open);
  await store.store({ ...PLAY_KEY, allowsKeychain: true });
  const keptIn = await store.store({ ...PLAY_KEY, key: 'another', allowsKeychain: false });

  expect(keptIn).toBe('file');
  expect(keychain.keys.size).toBe(0);
});

it('falls back to the file if there is no keychain', async () => {
  const store = storeIn(createTemporaryDirectory(), rejectKeychain);
  const keptIn = await store.store({ ...PLAY_KEY, allowsKeychain: true });
  const credential = store.find('play');

  expect(keptIn).toBe('file');
  expect(credential).toEqual({ origin: 'https://a.test', key: 'secret' });
  expect(credential && (await store.readKey('play', credential))).toBe('secret');
});

it.each([
  ['has none of that name', new MemoryKeychain().open],
  ['is not there', rejectKeychain],
])('returns no key if the keychain %s', async (_, openEntry) => {
  const store = storeIn(createTemporaryDirectory(), openEntry);
  writeFileSync(
    store.file,
    '{"keys": {"p": {"origin": "https://nowhere.test", "keychain": true}}}',
  );
  const credential = store.find('p');

  expect(credential).toBeDefined();
  expect(credential && (await store.readKey('p', credential))).toBeUndefined();
});

it.each([
  '{"keys": {"p": "sk-secret"}}',
  '{"keys": []}',
  '{"keys": {"p": {"origin": "o", "key": "sk-secret"',
])('reports that %s is damaged, without repeating what may be a key', text => {
  const directory = createTemporaryDirectory();
  writeFileSync(path.join(directory, 'credentials.json'), text);
  const find = () => storeIn(directory).find('p');
  expect(find).toThrow(/credentials\.json is damaged/);
  expect(find).not.toThrow(/sk-secret/);
});
