import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { Settings } from '../../../src/cli/settings/settings.ts';
import { createTemporaryDirectory, testClock } from '../../support/context.ts';
import { isPosix } from '../../support/system.ts';

function openSettingsIn(directory: string) {
  return new Settings(directory, testClock());
}

function createConfigFile(text: string) {
  const directory = createTemporaryDirectory();
  const file = path.join(directory, 'config.json');
  writeFileSync(file, text);
  return { directory, file, settings: openSettingsIn(directory) };
}

describe('the configuration file', () => {
  it.runIf(isPosix)(
    'is written for its owner only, in a directory for its owner only',
    async () => {
      const directory = path.join(createTemporaryDirectory(), 'made');
      await openSettingsIn(directory).update(document => {
        document.aliases['a'] = 'b';
      });
      expect(statSync(directory).mode & 0o777).toBe(0o700);
      expect(statSync(path.join(directory, 'config.json')).mode & 0o777).toBe(0o600);
      expect([...openSettingsIn(directory).aliases]).toEqual([['a', 'b']]);
    },
  );

  it('is not created by reading', () => {
    const directory = path.join(createTemporaryDirectory(), 'never');
    expect(openSettingsIn(directory).get('rate')).toBeUndefined();
    expect(existsSync(directory)).toBe(false);
  });

  it('keeps unknown settings', async () => {
    const { settings, file } = createConfigFile(
      '{"future": [1], "profiles": {"p": {"baseUrl": "u", "more": true}}}',
    );
    await settings.update(document => {
      document.settings['rate'] = 1;
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      future: [1],
      profiles: { p: { baseUrl: 'u', more: true } },
      settings: { rate: 1 },
    });
  });

  it('is changed as it is on disk, not as it was read earlier', async () => {
    const directory = createTemporaryDirectory();
    const [one, other] = [openSettingsIn(directory), openSettingsIn(directory)];

    expect(one.activeProfile).toBeUndefined();

    await other.update(document => {
      document.aliases['other'] = '1';
    });
    await one.update(document => {
      document.aliases['one'] = '2';
    });

    expect([...openSettingsIn(directory).aliases]).toEqual([
      ['one', '2'],
      ['other', '1'],
    ]);
  });

  it.runIf(isPosix)('stays a symbolic link', async () => {
    const directory = createTemporaryDirectory();
    const target = path.join(directory, 'dotfiles.json');
    writeFileSync(target, '{"aliases": {"old": "x"}}');
    mkdirSync(path.join(directory, 'config'));
    symlinkSync(target, path.join(directory, 'config', 'config.json'));
    await openSettingsIn(path.join(directory, 'config')).update(document => {
      document.aliases['new'] = 'y';
    });

    expect(JSON.parse(readFileSync(target, 'utf8'))).toMatchObject({
      aliases: { old: 'x', new: 'y' },
    });
  });

  it('accepts names such as __proto__', () => {
    const { settings } = createConfigFile('{"aliases": {"constructor": "c"}, "profiles": {}}');
    expect([settings.aliases.get('constructor'), settings.aliases.get('toString')]).toEqual([
      'c',
      undefined,
    ]);
    expect(settings.profiles.get('constructor')).toBeUndefined();
  });

  it.each([
    ['', 'it is not a JSON object'],
    ['{"aliases": {', 'it is not a JSON object'],
    ['[]', 'it is not a JSON object'],
    ['{"aliases": []}', '`aliases` is not an object'],
    ['{"aliases": {"a": 1}}', 'the alias `a` is not a string'],
    ['{"profiles": {"p": {}}}', 'the profile `p` has no `baseUrl`'],
    ['{"settings": "x"}', '`settings` is not an object'],
    ['{"activeProfile": 3}', '`activeProfile` is not a string'],
  ])('is reported as damaged, with its path, and not changed: %j', async (text, problem) => {
    const { settings, file } = createConfigFile(text);
    expect(() => settings.get('rate')).toThrow(`${file} is damaged: ${problem}`);
    await expect(settings.update(() => undefined)).rejects.toMatchObject({
      status: 'CONFIG_ERROR',
      exitCode: EXIT.usage,
      hints: [expect.stringContaining('rename it to start with a new one')],
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.runIf(isPosix && process.getuid?.() !== 0)('is reported as unreadable, with its path', () => {
    const { settings, file } = createConfigFile('{}');
    chmodSync(file, 0o000);
    expect(() => settings.activeProfile).toThrow(`${file} can't be read: `);
  });

  it('is reported as unreadable if a directory is in its place', () => {
    const directory = createTemporaryDirectory();
    mkdirSync(path.join(directory, 'config.json'));
    expect(() => openSettingsIn(directory).activeProfile).toThrow(
      "config.json can't be read: EISDIR",
    );
  });

  it('is reported as unwritable if its directory cannot be created', async () => {
    const file = path.join(createTemporaryDirectory(), 'a-file');
    writeFileSync(file, '');
    const update = openSettingsIn(file).update(() => undefined);
    await expect(update).rejects.toMatchObject({ status: 'CONFIG_ERROR', exitCode: EXIT.usage });
  });

  it('is named in the error of a setting that has a wrong value', () => {
    const { settings, file } = createConfigFile('{"settings": {"concurrency": {"a": 1}}}');
    expect(() => settings.get('concurrency')).toThrow(
      `${file}: the setting concurrency must be a whole number`,
    );
  });
});
