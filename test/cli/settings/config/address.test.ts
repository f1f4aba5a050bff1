import { describe, expect, it } from 'vitest';
import type { GlobalOptions } from '../../../../src/cli/core/global-options.ts';
import { resolveAddress, resolveKey } from '../../../../src/cli/settings/config/address.ts';
import { Settings } from '../../../../src/cli/settings/settings.ts';
import type { Env } from '../../../../src/utils/env.ts';
import { createTemporaryDirectory, testClock } from '../../../support/context.ts';

const WORK = 'https://work.test/v1';
const OTHER = 'https://other.test/v1';

/** Profiles `work`, active and with a key, and `bare`, without one. */
async function createSettings(active: string | undefined = 'work') {
  const opened = new Settings(createTemporaryDirectory(), testClock());
  await opened.update(document => {
    document.profiles = { work: { baseUrl: WORK }, bare: { baseUrl: 'https://bare.test/v1' } };
    if (active !== undefined) document.activeProfile = active;
  });
  await opened.credentials.store({
    profile: 'work',
    origin: 'https://work.test',
    key: 'work-key',
    allowsKeychain: false,
  });
  return opened;
}

type Flags = Pick<Partial<GlobalOptions>, 'profile' | 'baseUrl' | 'insecureHttp'>;

async function resolveToText(
  flags: Flags,
  env: Env,
  settings = createSettings(),
): Promise<unknown> {
  const request = {
    globals: { insecureHttp: false, ...flags },
    env,
    settings: await settings,
  };
  try {
    const address = resolveAddress(request);
    if (address.isEmbedded) return 'embedded';
    return [address.baseUrl.value, (await resolveKey(request, address)).value];
  } catch (error) {
    const { message, exitCode } = error as { message: string; exitCode: number };
    return `${exitCode}: ${message}`;
  }
}

const noSettings = () => Promise.resolve(new Settings(createTemporaryDirectory(), testClock()));
const BASE_URL_VARIABLE = 'PROMPTRUN_BASE_URL';
const KEY_VARIABLE = 'PROMPTRUN_API_KEY';

describe('the address and the key of requests', () => {
  it.each<{ name: string; flags: Flags; env: Env; expected: unknown }>([
    { name: 'the active profile is the default', flags: {}, env: {}, expected: [WORK, 'work-key'] },
    {
      name: 'an empty environment is none',
      flags: {},
      env: { [BASE_URL_VARIABLE]: '', [KEY_VARIABLE]: '', PROMPTRUN_PROFILE: '' },
      expected: [WORK, 'work-key'],
    },
    {
      name: 'the environment wins over the profile',
      flags: {},
      env: { [BASE_URL_VARIABLE]: OTHER, [KEY_VARIABLE]: 'env-key' },
      expected: [OTHER, 'env-key'],
    },
    {
      name: 'a key alone wins over the key of the profile',
      flags: {},
      env: { [KEY_VARIABLE]: 'env-key' },
      expected: [WORK, 'env-key'],
    },
    {
      name: 'a flag wins over the environment',
      flags: { baseUrl: OTHER },
      env: { [BASE_URL_VARIABLE]: WORK, [KEY_VARIABLE]: 'k' },
      expected: [OTHER, 'k'],
    },
    {
      name: '--profile wins over the environment',
      flags: { profile: 'work' },
      env: { [BASE_URL_VARIABLE]: OTHER, [KEY_VARIABLE]: 'k' },
      expected: [WORK, 'work-key'],
    },
    {
      name: 'PROMPTRUN_PROFILE chooses a profile',
      flags: {},
      env: { PROMPTRUN_PROFILE: 'bare', [KEY_VARIABLE]: 'k' },
      expected: ['https://bare.test/v1', 'k'],
    },
    {
      name: '--profile wins over PROMPTRUN_PROFILE',
      flags: { profile: 'work' },
      env: { PROMPTRUN_PROFILE: 'bare' },
      expected: [WORK, 'work-key'],
    },
    {
      name: 'the profile local is built in, and wins over the environment',
      flags: { profile: 'local' },
      env: { [BASE_URL_VARIABLE]: OTHER, [KEY_VARIABLE]: 'k' },
      expected: 'embedded',
    },
    {
      name: 'the stored key goes to its own origin',
      flags: { baseUrl: 'https://work.test' },
      env: {},
      expected: [WORK, 'work-key'],
    },
    {
      name: 'the stored key goes to no other origin',
      flags: { baseUrl: OTHER },
      env: {},
      expected: '3: no key for other.test, given by --base-url',
    },
    {
      name: 'the stored key does not go to another port',
      flags: { baseUrl: 'https://work.test:8443' },
      env: {},
      expected: '3: no key for work.test:8443, given by --base-url',
    },
    {
      name: 'the stored key does not go to a base URL of the environment',
      flags: {},
      env: { [BASE_URL_VARIABLE]: OTHER },
      expected: '3: no key for other.test, given by PROMPTRUN_BASE_URL',
    },
    {
      name: 'a profile with another base URL takes the key of the environment',
      flags: { profile: 'work', baseUrl: OTHER },
      env: { [KEY_VARIABLE]: 'k' },
      expected: [OTHER, 'k'],
    },
    {
      name: 'a profile without a key',
      flags: { profile: 'bare' },
      env: {},
      expected: '3: no key for bare.test, given by profile bare',
    },
    {
      name: 'a profile without a key takes the key of the environment',
      flags: { profile: 'bare' },
      env: { [KEY_VARIABLE]: 'k' },
      expected: ['https://bare.test/v1', 'k'],
    },
    {
      name: 'a profile does not take a key that belongs to another base URL',
      flags: { profile: 'bare' },
      env: { [KEY_VARIABLE]: 'k', [BASE_URL_VARIABLE]: OTHER },
      expected: '3: no key for bare.test, given by profile bare',
    },
    {
      name: 'no such profile',
      flags: { profile: 'wrok' },
      env: {},
      expected: '2: --profile: unknown profile "wrok"; did you mean work?',
    },
    {
      name: 'no such profile',
      flags: {},
      env: { PROMPTRUN_PROFILE: 'x' },
      expected: '2: PROMPTRUN_PROFILE: unknown profile "x"',
    },
    {
      name: 'an empty profile',
      flags: { profile: '' },
      env: {},
      expected: '2: --profile: unknown profile ""',
    },
    {
      name: 'a name of every object',
      flags: { profile: 'constructor' },
      env: {},
      expected: '2: --profile: unknown profile "constructor"',
    },
    {
      name: 'an empty base URL',
      flags: { baseUrl: '' },
      env: {},
      expected: '2: --base-url: "" is not a URL',
    },
    {
      name: 'a key with a line break is refused',
      flags: { baseUrl: OTHER },
      env: { [KEY_VARIABLE]: 'a\nb' },
      expected: '2: PROMPTRUN_API_KEY: the key contains a line break',
    },
    {
      name: 'a key with a letter that no header can contain is refused',
      flags: { baseUrl: OTHER },
      env: { [KEY_VARIABLE]: 'schlüssel' },
      expected: "2: PROMPTRUN_API_KEY: the key contains characters that keys can't have",
    },
  ])('$name', async ({ flags, env, expected }) => {
    expect(await resolveToText(flags, env)).toEqual(expected);
  });

  it.each<{ name: string; flags: Flags; env: Env; expected: unknown }>([
    { name: 'is the embedded service by default', flags: {}, env: {}, expected: 'embedded' },
    {
      name: 'is refused if there is a key without a base URL',
      flags: {},
      env: { [KEY_VARIABLE]: 'k' },
      expected: '2: PROMPTRUN_API_KEY is set, but no base URL',
    },
    {
      name: 'is refused if there is a base URL without a key',
      flags: {},
      env: { [BASE_URL_VARIABLE]: OTHER },
      expected: '3: no key for other.test, given by PROMPTRUN_BASE_URL',
    },
    {
      name: 'is that of the environment if this has a base URL and a key',
      flags: {},
      env: { [BASE_URL_VARIABLE]: OTHER, [KEY_VARIABLE]: 'k' },
      expected: [OTHER, 'k'],
    },
  ])('the address without a profile $name', async ({ flags, env, expected }) => {
    expect(await resolveToText(flags, env, noSettings())).toEqual(expected);
  });

  it('never falls back to the embedded service while there are profiles', async () => {
    const of = createSettings('work').then(async opened => {
      await opened.update(document => delete document.activeProfile);
      return opened;
    });
    expect(await resolveToText({}, {}, of)).toBe('2: there are profiles, but none is active');
  });
});

describe('a base URL', () => {
  it.each([
    ['https://a.test', 'https://a.test/v1'],
    ['https://a.test/', 'https://a.test/v1'],
    ['https://a.test/v1/', 'https://a.test/v1'],
    ['https://a.test/prompts', 'https://a.test/prompts/v1'],
    ['http://localhost:8787/v1', 'http://localhost:8787/v1'],
    ['http://127.1.2.3', 'http://127.1.2.3/v1'],
    ['http://[::1]:80', 'http://[::1]/v1'],
  ])('%s is used as %s', async (baseUrl, expected) => {
    expect(await resolveToText({ baseUrl }, { [KEY_VARIABLE]: 'k' })).toEqual([expected, 'k']);
  });

  it.each([
    'http://a.test',
    'http://127.0.0.1.a.test',
    'http://localhost.a.test',
    'http://192.168.0.1',
    'http://0x7f000001.a.test',
  ])('%s is refused, because the key would be sent in the clear', async baseUrl => {
    expect(await resolveToText({ baseUrl }, { [KEY_VARIABLE]: 'k' })).toMatch(
      /^2: --base-url: plain http to .* in the clear$/,
    );
    expect(await resolveToText({ baseUrl, insecureHttp: true }, { [KEY_VARIABLE]: 'k' })).toEqual([
      `${baseUrl}/v1`,
      'k',
    ]);
  });

  it.each([
    'a.test',
    'ftp://a.test',
    'https://user:hunter2@a.test',
    'https://a.test?x=1',
    'https://a.test/#x',
    'file:///v1',
  ])('%s is refused', async baseUrl => {
    const resolved = await resolveToText({}, { [KEY_VARIABLE]: 'k', [BASE_URL_VARIABLE]: baseUrl });
    expect(resolved).toMatch(/^2: PROMPTRUN_BASE_URL: /);
    expect(resolved).not.toContain('hunter2');
  });
});
