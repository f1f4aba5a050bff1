import { homedir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findHomeDirectory, findUserFolder } from '../../src/files/user-folders.ts';

it.each([
  ['linux', 'XDG_CACHE_HOME', '/var/cache', '/var/cache'],
  ['linux', 'XDG_CACHE_HOME', 'cache', '/home/ann/.cache'],
  ['linux', 'XDG_CACHE_HOME', '', '/home/ann/.cache'],
  ['darwin', 'XDG_CACHE_HOME', '/var/cache', '/home/ann/Library/Caches'],
  ['win32', 'LOCALAPPDATA', 'D:\\Local', 'D:\\Local'],
  ['win32', 'LOCALAPPDATA', 'Local', '/home/ann/AppData/Local'],
] as const)(
  'puts the cache on %s with %s=%s, unless that is relative',
  (platform, variable, value, folder) => {
    const inFolder = platform === 'win32' ? ['promptrun', 'Cache'] : ['promptrun'];
    expect(findUserFolder('cache', { HOME: '/home/ann', [variable]: value }, platform)).toBe(
      path.join(folder, ...inFolder),
    );
  },
);

it('finds the home directory in the environment, an empty variable counting as none, else asks the system', () => {
  expect(findHomeDirectory({ HOME: '/home/ann', USERPROFILE: 'C:\\Users\\ann' })).toBe('/home/ann');
  expect(findHomeDirectory({ HOME: '', USERPROFILE: 'C:\\Users\\ann' })).toBe('C:\\Users\\ann');
  expect(findHomeDirectory({})).toBe(homedir());
});
