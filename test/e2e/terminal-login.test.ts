import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTemporaryDirectory } from '../support/context.ts';
import { startScriptedService, success } from '../support/scripted-service.ts';
import { onTerminal } from '../support/terminals/terminal-command.ts';

const SECRET_KEY = 'pr_a-key-nobody-may-see';

async function startLoginService() {
  const scripted = await startScriptedService([
    {
      expect: { path: '/resources', headers: { authorization: `Bearer ${SECRET_KEY}` } },
      answer: success({ hash: 'h', resources: { models: [] } }),
      times: 'any',
    },
  ]);
  onTestFinished(() => scripted.close());
  return scripted;
}

it('login asks for the key without showing it', async () => {
  const home = createTemporaryDirectory();
  const { origin } = await startLoginService();
  const terminal = onTerminal(['login', '--no-keychain', '--base-url', origin], { home });
  await terminal.waitForScreen(`? API key for ${new URL(origin).host}`);
  terminal.type(`${SECRET_KEY}\r`);

  expect(await terminal.exit()).toBe(0);
  expect(terminal.raw()).not.toContain(SECRET_KEY);
  expect(terminal.text()).toContain('Logged in to');
  expect(readFileSync(path.join(home, 'config/credentials.json'), 'utf8')).toContain(SECRET_KEY);
});

it('login ends at Ctrl-C with nothing stored', async () => {
  const { origin, calls } = await startLoginService();
  const home = createTemporaryDirectory();
  const terminal = onTerminal(['login', '--base-url', origin], { home });
  await terminal.waitFor('API key for');
  terminal.press('ctrl+c');
  expect(await terminal.exit()).toBe(130);
  expect(terminal.text()).toContain('Cancelled.');
  expect(calls).toEqual([]);
  expect(existsSync(path.join(home, 'config/credentials.json'))).toBe(false);
});

it('login asks for the address on one line, which offers no editor', async () => {
  const { baseUrl } = await startLoginService();
  const terminal = onTerminal(['login', '--no-keychain']);
  await terminal.waitFor('? address of the service');

  expect(terminal.text()).not.toContain('editor');

  terminal.type(`${baseUrl}\r`);
  await terminal.waitFor('? API key for');
  terminal.type(`${SECRET_KEY}\r`);

  expect(await terminal.exit()).toBe(0);
});
