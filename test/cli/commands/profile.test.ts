import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';

/** Runs command lines in the same home directory; returns the result of the last one. */
async function runLines(...lines: string[]) {
  const home = createTemporaryDirectory();
  let last = await runInProcess(['profile', 'list'], { home });
  for (const line of lines) last = await runInProcess(line.split(' '), { home });
  return last;
}

const ADD = 'profile add work --base-url https://a.test';

it('makes the first profile active, and another one with profile use', async () => {
  const list = await runLines(
    ADD,
    'profile add play --base-url http://127.0.0.1:9/v1',
    'profile list',
  );
  expect(list.stdout()).toBe(
    'play\thttp://127.0.0.1:9/v1\tnone\t\nwork\thttps://a.test/v1\tnone\tactive\n',
  );
  const used = await runLines(
    ADD,
    'profile add play --base-url https://b.test',
    'profile use play',
    'profile list --json',
  );
  expect(JSON.parse(used.stdout())).toEqual([
    { name: 'play', baseUrl: 'https://b.test/v1', key: null, active: true },
    { name: 'work', baseUrl: 'https://a.test/v1', key: null, active: false },
  ]);
});

it('changes the base URL of a profile', async () => {
  const { stdout } = await runLines(
    ADD,
    'profile add work --base-url https://b.test',
    'profile list --query [].baseUrl',
  );
  expect(JSON.parse(stdout())).toEqual(['https://b.test/v1']);
});

it('removes the active profile', async () => {
  const { stdout, exitCode } = await runLines(ADD, 'profile remove work', 'profile list --json');
  expect(JSON.parse(stdout())).toEqual([]);
  expect(exitCode).toBe(0);
});

it('lists the embedded service only if it is active', async () => {
  const { stdout } = await runLines(ADD, 'profile use local', 'profile list');
  expect(stdout()).toBe('work\thttps://a.test/v1\tnone\t\nlocal\tbuilt in\tnone\tactive\n');
});

it('lists profiles as a table on a terminal', async () => {
  const home = createTemporaryDirectory();
  await runInProcess(ADD.split(' '), { home });
  const { stdout } = await runInProcess(['profile', 'list'], {
    home,
    terminal: { stdout: true },
    env: { NO_COLOR: '1' },
  });
  expect(stdout()).toMatch(
    /^NAME +BASE URL +KEY +ACTIVE\nwork +https:\/\/a\.test\/v1 +none +active\n$/,
  );
});

it.each([
  { line: 'profile use wrok', message: 'unknown profile "wrok"', hint: 'did you mean work?' },
  { line: 'profile remove nope', message: 'unknown profile "nope"', hint: 'Profiles: work' },
  {
    line: 'profile add x',
    message: 'profile add needs --base-url <url>',
    hint: 'promptrun profile add x --base-url https://',
  },
  {
    line: 'profile add local --base-url https://b.test',
    message: 'local is the built-in profile',
    hint: '',
  },
  {
    line: 'profile add __proto__ --base-url https://b.test',
    message: "'__proto__' can't be the name of a profile",
    hint: '',
  },
  {
    line: 'profile add ../x --base-url https://b.test',
    message: "'../x' can't be the name of a profile",
    hint: '',
  },
])('refuses "$line"', async ({ line, message, hint }) => {
  const { exitCode, stderr } = await runLines(ADD, line);
  expect(stderr()).toMatch(/^error: .* \(USAGE_ERROR\)\n/);
  expect(stderr()).toContain(message);
  expect(stderr()).toContain(hint);
  expect(exitCode).toBe(EXIT.usage);
});

it('refuses a plain http URL, which would send the key unencrypted', async () => {
  const { exitCode, stderr } = await runLines('profile add x --base-url http://a.test');
  expect(stderr()).toContain('plain http');
  expect(exitCode).toBe(EXIT.usage);
});
