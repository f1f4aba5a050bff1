import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CredentialStore } from '../../../../src/cli/settings/credentials/credential-store.ts';
import { createTemporaryDirectory, testClock } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

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

it('falls back to the file if there is no keychain', async () => {
  const store = storeIn(createTemporaryDirectory());
  const keptIn = await store.store({
    profile: 'promptrun-test',
    origin: 'https://keychain.test',
    key: 'k',
    allowsKeychain: true,
  });
  const credential = store.find('promptrun-test');

  expect(credential && (await store.readKey('promptrun-test', credential))).toBe('k');
  expect(credential).toEqual(
    keptIn === 'file'
      ? { origin: 'https://keychain.test', key: 'k' }
      : { origin: 'https://keychain.test', keychain: true },
  );

  await store.forget('promptrun-test');
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
