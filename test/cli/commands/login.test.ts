import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { login } from '../../../src/cli/commands/login/login.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import type { Prompter } from '../../../src/cli/questions/question.ts';
import { runInProcess, startInProcess, testContext } from '../../support/context.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

const RESOURCES = { hash: 'h1', resources: { models: [] } };

/** The request that checks a key. */
const KEY_CHECK: Exchange = {
  expect: { method: 'GET', path: '/resources', headers: { authorization: 'Bearer the-key' } },
  answer: success(RESOURCES),
};

function readConfigFile(home: string, file: string): unknown {
  return JSON.parse(readFileSync(path.join(home, 'config', file), 'utf8')) as unknown;
}

describe('login', () => {
  it('checks the key from standard input and stores it for the profile default', async () => {
    const { origin, baseUrl } = await startScriptedServiceForTest(KEY_CHECK);
    const { exitCode, stdout, stderr, home } = await runInProcess(
      ['login', '--no-keychain', '--base-url', origin],
      {
        stdin: 'the-key\n',
      },
    );

    expect(stdout()).toBe('');
    expect(exitCode).toBe(0);
    expect(stderr()).toContain(`Logged in to ${baseUrl} as profile default`);
    expect(stderr()).not.toContain('the-key');
    expect(readConfigFile(home, 'config.json')).toMatchObject({
      activeProfile: 'default',
      profiles: { default: { baseUrl } },
    });
    expect(readConfigFile(home, 'credentials.json')).toEqual({
      keys: { default: { origin, key: 'the-key' } },
    });

    const list = await runInProcess(['profile', 'list', '--json'], { home });
    expect(JSON.parse(list.stdout())).toEqual([
      { name: 'default', baseUrl, key: 'file', active: true },
    ]);
  });

  it('stores nothing if the service refuses the key', async () => {
    const { origin } = await startScriptedServiceForTest({
      answer: failure(401, 'UNAUTHORIZED_ERROR', 'no such key'),
    });
    const { exitCode, stderr, home } = await runInProcess(['login', '--base-url', origin], {
      stdin: 'wrong',
    });
    expect(stderr()).toBe(
      'error: no such key (UNAUTHORIZED_ERROR)\nNothing was stored. Repeat the command with another key.\n',
    );
    expect(existsSync(path.join(home, 'config', 'credentials.json'))).toBe(false);
    expect(exitCode).toBe(EXIT.unauthorised);
  });

  it('names the base URL if the service does not have its path', async () => {
    const { origin } = await startScriptedServiceForTest({
      answer: failure(404, 'NOT_FOUND_ERROR', 'the route does not exist'),
    });
    const { exitCode, stderr } = await runInProcess(['login', '--base-url', `${origin}/v2`], {
      stdin: 'k',
    });
    expect(stderr()).toBe(
      `error: the route does not exist (NOT_FOUND_ERROR)\nThere may be no service at ${origin}/v2/v1: check --base-url. Nothing was stored.\n`,
    );
    expect(exitCode).toBe(EXIT.notFound);
  });

  it('asks for the key on a terminal, naming the host that gets it', async () => {
    const { origin } = await startScriptedServiceForTest(KEY_CHECK);
    const asked: string[] = [];
    const prompter = {
      secret: ({ message }: { message: string }) => {
        asked.push(message);
        return Promise.resolve(' the-key ');
      },
    } as unknown as Prompter;

    const { ctx } = await testContext({
      prompter,
      terminal: { stdin: true, stderr: true },
      globals: { baseUrl: origin },
    });
    await login(ctx, { keychain: false });

    expect(asked).toEqual([`API key for ${new URL(origin).host}`]);
  });

  it('asks for a missing base URL, and for another key after a refused one', async () => {
    const refused: Exchange = { answer: failure(401, 'UNAUTHORIZED_ERROR', 'no such key') };
    const { origin, baseUrl } = await startScriptedServiceForTest(refused, KEY_CHECK);
    const keys = ['wrong', 'the-key'];
    const prompter = {
      text: async ({ check }: { check: (answer: string) => unknown }) => {
        expect(await check('ftp://x')).toContain('the address');
        return origin;
      },
      secret: () => Promise.resolve(keys.shift()),
    } as unknown as Prompter;
    const { ctx, stderr } = await testContext({
      prompter,
      terminal: { stdin: true, stderr: true },
    });
    await login(ctx, { keychain: false });

    expect(stderr()).toContain('The service refused this key: no such key\n');
    expect(stderr()).toContain(`Logged in to ${baseUrl}`);
  });

  it('asks nothing with --no-input', async () => {
    const { exitCode, stderr } = await runInProcess(
      ['login', '--base-url', 'https://a.test', '--no-input'],
      {
        terminal: { stdin: true, stderr: true },
        env: { SHELL: '/bin/sh' },
      },
    );
    expect(stderr()).toContain('promptrun login --base-url https://a.test < key.txt');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    ['', 'it contains no key'],
    ['a\nb\n', 'the key contains a line break'],
    ['a b', 'the key contains a space'],
    ['\u00fc', "the key contains characters that keys can't have"],
  ])('refuses %j before anything is sent', async (stdin, message) => {
    const { exitCode, stderr } = await runInProcess(['login', '--base-url', 'https://a.test'], {
      stdin,
    });
    expect(stderr()).toContain(`error: standard input: ${message} (CONFIG_ERROR)`);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('shows the whole command again if standard input is empty', async () => {
    const { stderr } = await runInProcess(['login', '--base-url', 'https://a.test'], {
      stdin: '',
      env: { SHELL: '/bin/sh' },
    });
    expect(stderr()).toContain(
      'from a file with: promptrun login --base-url https://a.test < key.txt\n',
    );
  });

  it('stores the key for the named profile, and leaves the active one active', async () => {
    const { origin, baseUrl } = await startScriptedServiceForTest(KEY_CHECK);
    const { home } = await runInProcess(['profile', 'add', 'work', '--base-url', 'https://a.test']);
    const args = ['login', '--profile', 'play', '--base-url', origin, '--no-keychain', '--json'];
    const { stdout } = await runInProcess(args, { home, stdin: 'the-key' });

    expect(JSON.parse(stdout())).toEqual({
      profile: 'play',
      baseUrl,
      keptIn: 'file',
      active: false,
    });
    expect(readConfigFile(home, 'config.json')).toMatchObject({ activeProfile: 'work' });
  });

  it('logs in to the active profile again without a base URL', async () => {
    const { origin } = await startScriptedServiceForTest(KEY_CHECK);
    const { home } = await runInProcess(['profile', 'add', 'work', '--base-url', origin]);
    await runInProcess(['login', '--no-keychain'], { home, stdin: 'the-key' });
    expect(readConfigFile(home, 'credentials.json')).toMatchObject({ keys: { work: { origin } } });
  });

  it('refuses to change the base URL of a profile that is not named', async () => {
    const { home } = await runInProcess([
      'profile',
      'add',
      'default',
      '--base-url',
      'https://a.test',
    ]);
    const { exitCode, stderr } = await runInProcess(['login', '--base-url', 'https://b.test'], {
      home,
      stdin: 'k',
    });
    expect(stderr()).toContain('the profile default already has the base URL https://a.test/v1');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('needs a base URL', async () => {
    const { exitCode, stderr } = await runInProcess(['login'], { stdin: 'k' });
    expect(stderr()).toContain('login needs --base-url <url>');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('shows how to make a profile if the active one is the embedded service', async () => {
    const { home } = await runInProcess(['profile', 'use', 'local']);
    const { exitCode, stderr } = await runInProcess(['login'], { home, stdin: 'k' });
    expect(stderr()).toContain('promptrun login --profile <name> --base-url <url>\n');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('reports damaged credentials before it asks, and does not change them', async () => {
    const { home } = await runInProcess(['profile', 'add', 'work', '--base-url', 'https://a.test']);
    const file = path.join(home, 'config', 'credentials.json');
    writeFileSync(file, '{broken');
    const { exitCode, stderr } = await runInProcess(['login'], { home });
    expect(stderr()).toContain(`${file} is damaged`);
    expect(exitCode).toBe(EXIT.usage);
    expect(readFileSync(file, 'utf8')).toBe('{broken');
  });

  it('ends at once when it is interrupted while it reads', async () => {
    const stdin = new Readable({ read() {} });
    const { ended, raise, stderr } = startInProcess(['login', '--base-url', 'https://a.test'], {
      stdin,
    });

    while (stdin.listenerCount('readable') === 0) {
      await new Promise(resolve => setImmediate(resolve));
    }

    raise('SIGINT');
    expect(await ended).toBe(EXIT.interrupted);
    expect(stderr()).toBe('error: interrupted (INTERRUPTED)\n');
  });
});

describe('logout', () => {
  it('removes the key, but keeps the profile', async () => {
    const { origin } = await startScriptedServiceForTest(KEY_CHECK);
    const { home } = await runInProcess(['login', '--no-keychain', '--base-url', origin], {
      stdin: 'the-key',
    });
    const out = await runInProcess(['logout', '--json'], { home });

    expect(JSON.parse(out.stdout())).toEqual({ profile: 'default', forgotten: true });
    expect(readConfigFile(home, 'credentials.json')).toEqual({ keys: {} });

    const again = await runInProcess(['logout'], { home });
    expect(again.stderr()).toBe('Profile default has no key stored.\n');
    expect(again.exitCode).toBe(0);
  });

  it('says that there is no key to remove', async () => {
    const { exitCode, stderr } = await runInProcess(['logout']);
    expect(stderr()).toBe('No profile is active. Nothing was removed.\n');
    expect(exitCode).toBe(0);
  });
});
