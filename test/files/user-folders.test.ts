import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findHomeDirectory, findUserFolder } from '../../src/files/user-folders.ts';

describe('the folder of the cache', () => {
  const HOME = '/home/ann';

  it('is in XDG_CACHE_HOME on Linux', () => {
    const env = { HOME, XDG_CACHE_HOME: '/var/cache' };
    expect(findUserFolder('cache', env, 'linux')).toBe(path.join('/var/cache', 'promptrun'));
  });

  it.each(['cache', ''])('is in .cache on Linux if XDG_CACHE_HOME is %j', value => {
    const env = { HOME, XDG_CACHE_HOME: value };
    expect(findUserFolder('cache', env, 'linux')).toBe(path.join(HOME, '.cache', 'promptrun'));
  });

  it('is in Library on macOS, whatever XDG_CACHE_HOME is', () => {
    const env = { HOME, XDG_CACHE_HOME: '/var/cache' };
    expect(findUserFolder('cache', env, 'darwin')).toBe(
      path.join(HOME, 'Library', 'Caches', 'promptrun'),
    );
  });

  it('is in LOCALAPPDATA on Windows', () => {
    const env = { HOME, LOCALAPPDATA: 'D:\\Local' };
    expect(findUserFolder('cache', env, 'win32')).toBe(
      path.join('D:\\Local', 'promptrun', 'Cache'),
    );
  });

  it('is in AppData on Windows if LOCALAPPDATA is relative', () => {
    const env = { HOME, LOCALAPPDATA: 'Local' };
    expect(findUserFolder('cache', env, 'win32')).toBe(
      path.join(HOME, 'AppData', 'Local', 'promptrun', 'Cache'),
    );
  });
});

describe('the home directory', () => {
  it('is HOME, before USERPROFILE', () => {
    expect(findHomeDirectory({ HOME: '/home/ann', USERPROFILE: 'C:\\Users\\ann' })).toBe(
      '/home/ann',
    );
  });

  it('is USERPROFILE if HOME is empty', () => {
    expect(findHomeDirectory({ HOME: '', USERPROFILE: 'C:\\Users\\ann' })).toBe('C:\\Users\\ann');
  });

  it('is that of the system if the environment has none', () => {
    expect(findHomeDirectory({})).toBe(homedir());
  });
});
