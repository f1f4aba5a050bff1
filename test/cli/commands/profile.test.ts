import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';

/** Runs each line in one home and gives what the last one came to. */
async function runLines(...lines: string[]) {
  const home = temporaryDirectory();
  let last = await runInProcess(['profile', 'list'], { home });
  for (const line of lines) last = await runInProcess(line.split(' '), { home });
  return last;
}

const ADD = 'profile add work --base-url https://a.test';

it('makes the first profile the active one, and others when they are chosen', async () => {
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

it('forgets a profile, active or not', async () => {
  const { stdout, exitCode } = await runLines(ADD, 'profile remove work', 'profile list --json');
  expect(JSON.parse(stdout())).toEqual([]);
  expect(exitCode).toBe(0);
});

it('shows the embedded service only when it is the one in use', async () => {
  const { stdout } = await runLines(ADD, 'profile use local', 'profile list');
  expect(stdout()).toBe('work\thttps://a.test/v1\tnone\t\nlocal\tbuilt in\tnone\tactive\n');
});

it('is a table on a terminal', async () => {
  const home = temporaryDirectory();
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
  ['profile use wrok', 'unknown profile "wrok"', 'did you mean work?'],
  ['profile remove nope', 'unknown profile "nope"', 'Profiles: work'],
  [
    'profile add x',
    'profile add needs --base-url <url>',
    'promptrun profile add x --base-url https://',
  ],
  ['profile add local --base-url https://b.test', 'local is the built-in profile', ''],
  [
    'profile add __proto__ --base-url https://b.test',
    "'__proto__' can't be the name of a profile",
    '',
  ],
  ['profile add ../x --base-url https://b.test', "'../x' can't be the name of a profile", ''],
])('%s is a usage error', async (line, what, hint) => {
  const { exitCode, stderr } = await runLines(ADD, line);
  expect(stderr()).toMatch(/^error: .* \(USAGE_ERROR\)\n/);
  expect(stderr()).toContain(what);
  expect(stderr()).toContain(hint);
  expect(exitCode).toBe(EXIT.usage);
});

it('refuses a profile that would send a key in the clear', async () => {
  const { exitCode, stderr } = await runLines('profile add x --base-url http://a.test');
  expect(stderr()).toContain('plain http');
  expect(exitCode).toBe(EXIT.usage);
});
