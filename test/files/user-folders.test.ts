import { homedir } from 'node:os';
import { expect, it } from 'vitest';
import { folderIn, homeDirectory } from '../../src/files/user-folders.ts';

it.each([
  ['linux', 'XDG_CACHE_HOME', '/var/cache', '/var/cache'],
  ['linux', 'XDG_CACHE_HOME', 'cache', undefined],
  ['linux', 'XDG_CACHE_HOME', '', undefined],
  ['win32', 'LOCALAPPDATA', 'D:\\Local', 'D:\\Local'],
  ['win32', 'LOCALAPPDATA', 'Local', undefined],
] as const)('takes on %s the folder of %s=%s, unless it is relative', (platform, variable, value, folder) => {
  expect(folderIn({ [variable]: value }, variable, platform)).toBe(folder);
});

it('finds the home directory in the environment, an empty variable counting as none, else asks the system', () => {
  expect(homeDirectory({ HOME: '/home/ann', USERPROFILE: 'C:\\Users\\ann' })).toBe('/home/ann');
  expect(homeDirectory({ HOME: '', USERPROFILE: 'C:\\Users\\ann' })).toBe('C:\\Users\\ann');
  expect(homeDirectory({})).toBe(homedir());
});
