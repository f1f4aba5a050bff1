import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';

/** Runs command lines one after another in the same home directory. */
async function runInOneHome(...lines: string[][]) {
  const home = createTemporaryDirectory();
  const results = [];
  for (const line of lines) results.push(await runInProcess(line, { home }));
  return results;
}

describe('config', () => {
  it('sets, gets, lists and unsets a setting', async () => {
    const [set, get, list, unset, unsetValue] = await runInOneHome(
      ['config', 'set', 'concurrency', '8'],
      ['config', 'get', 'concurrency'],
      ['config', 'list'],
      ['config', 'unset', 'concurrency'],
      ['config', 'get', 'concurrency'],
    );
    expect(set?.stdout()).toBe('');
    expect(set?.stderr()).toBe('concurrency is 8.\n');
    expect(set?.exitCode).toBe(0);
    expect(get?.stdout()).toBe('8\n');
    expect(list?.stdout().split('\n')[0]).toBe('concurrency\t8\tset');
    expect(unsetValue?.stdout()).toBe('4\n');
    expect(unset?.exitCode).toBe(0);
  });

  it.each([
    { key: 'rate', text: '0', value: 0 },
    { key: 'rate', text: '2.5', value: 2.5 },
    { key: 'saveDir', text: '/tmp/some where', value: '/tmp/some where' },
    { key: 'preview', text: 'off', value: false },
    { key: 'keychain', text: 'TRUE', value: true },
    { key: 'pager', text: 'less -R', value: 'less -R' },
    { key: 'pager', text: 'off', value: 'cat' },
  ])('stores $key $text with its type', async ({ key, text, value }) => {
    const [, stored] = await runInOneHome(
      ['config', 'set', key, text],
      ['config', 'get', key, '--json'],
    );
    expect(JSON.parse(stored?.stdout() ?? '')).toEqual(value);
  });

  it.each([
    ['concurrency', '0'],
    ['concurrency', '1.5'],
    ['concurrency', 'many'],
    ['rate', '-1'],
    ['preview', 'maybe'],
    ['saveDir', ' '],
  ])('refuses %s %j', async (key, text) => {
    const { exitCode, stderr } = await runInProcess(['config', 'set', '--', key, text]);
    expect(stderr()).toMatch(new RegExp(`^error: '.*' is not a value of ${key}: it takes `));
    expect(exitCode).toBe(EXIT.usage);
  });

  it('expands ~ in saveDir, which cmd.exe and PowerShell leave as it is', async () => {
    const home = createTemporaryDirectory();
    const options = { home, env: { HOME: path.join(home, 'ada') }, local: localService };
    await runInProcess(['config', 'set', 'saveDir', '~/pictures'], options);
    const { exitCode } = await runInProcess(
      ['run', 'postcard', '-i', 'place=Oslo', '--save'],
      options,
    );

    expect(exitCode).toBe(0);
    expect(readdirSync(path.join(home, 'ada', 'pictures')).join()).toContain('.png');
  });

  it.each(['get', 'unset'])(
    'suggests the nearest setting for one that %s does not know',
    async verb => {
      const { exitCode, stderr } = await runInProcess(['config', verb, 'save-dir']);
      expect(stderr()).toContain('did you mean saveDir?');
      expect(exitCode).toBe(EXIT.usage);
    },
  );
});

describe('alias', () => {
  it('sets, lists and removes an alias', async () => {
    const [, , list, json, removed, empty] = await runInOneHome(
      ['alias', 'set', 'b', './b.prompt'],
      ['alias', 'set', 'a', 'hello'],
      ['alias', 'list'],
      ['aliases', 'list', '--json'],
      ['alias', 'remove', 'a'],
      ['alias', 'list', '--query', '[].name'],
    );
    expect(list?.stdout()).toBe('a\thello\nb\t./b.prompt\n');
    expect(JSON.parse(json?.stdout() ?? '')).toEqual([
      { name: 'a', target: 'hello' },
      { name: 'b', target: './b.prompt' },
    ]);
    expect(JSON.parse(empty?.stdout() ?? '')).toEqual(['b']);
    expect(removed?.exitCode).toBe(0);
  });

  it('refuses to remove an alias that does not exist', async () => {
    const [, result] = await runInOneHome(
      ['alias', 'set', 'haiku', 'x'],
      ['alias', 'remove', 'hiaku'],
    );
    expect(result?.stderr()).toContain('did you mean haiku?');
    expect(result?.exitCode).toBe(EXIT.usage);
  });

  it.each([
    { name: '-x y', argv: ['alias', 'set', '--', '-x', 'y'] },
    { name: 'a/b', argv: ['alias', 'set', 'a/b', 'y'] },
    { name: 'an empty target', argv: ['alias', 'set', 'a', ''] },
  ])('refuses $name', async ({ argv }) => {
    expect((await runInProcess(argv)).exitCode).toBe(EXIT.usage);
  });
});
