import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { CredentialStore } from '../../../../src/cli/settings/credentials/credential-store.ts';
import { createTemporaryDirectory, testClock } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

/** The keychain of the system, which a test must neither read nor change. */
const keychain = vi.hoisted(() => ({ isAvailable: true, passwords: new Map<string, string>() }));

vi.mock('@napi-rs/keyring', () => ({
  AsyncEntry: class {
    readonly #name: string;

    constructor(service: string, user: string) {
      if (!keychain.isAvailable) throw new Error('no keychain');
      this.#name = `${service} ${user}`;
    }

    async setPassword(password: string): Promise<void> {
      keychain.passwords.set(this.#name, password);
    }

    async getPassword(): Promise<string | undefined> {
      return keychain.passwords.get(this.#name);
    }

    async deletePassword(): Promise<boolean> {
      return keychain.passwords.delete(this.#name);
    }
  },
}));

beforeEach(() => {
  keychain.isAvailable = true;
  keychain.passwords.clear();
});

function storeIn(directory: string): CredentialStore {
  return new CredentialStore(directory, testClock());
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
    expect([await store.forget('work'), store.find('work'), await store.forget('work')]).toEqual([
      true,
      undefined,
      false,
    ]);
    expect(readFileSync(store.file, 'utf8')).not.toContain('secret');
  },
);

const KEYCHAIN_CREDENTIAL = {
  profile: 'work',
  origin: 'https://keychain.test',
  key: 'k',
  allowsKeychain: true,
};

it('keeps a key in the keychain, and only its place in the file', async () => {
  const store = storeIn(createTemporaryDirectory());
  expect(await store.store(KEYCHAIN_CREDENTIAL)).toBe('keychain');
  expect(store.find('work')).toEqual({ origin: 'https://keychain.test', keychain: true });
  expect(await store.readKey('work', { origin: 'https://keychain.test', keychain: true })).toBe(
    'k',
  );
});

it('keeps a key in the file if there is no keychain', async () => {
  keychain.isAvailable = false;
  const store = storeIn(createTemporaryDirectory());
  expect(await store.store(KEYCHAIN_CREDENTIAL)).toBe('file');
  expect(store.find('work')).toEqual({ origin: 'https://keychain.test', key: 'k' });
});

it('returns no key if the keychain has none of that name', async () => {
  const directory = createTemporaryDirectory();
  const store = storeIn(directory);
  writeFileSync(
    store.file,
    '{"keys": {"p": {"origin": "https://nowhere.test", "keychain": true}}}',
  );
  const credential = store.find('p');

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
