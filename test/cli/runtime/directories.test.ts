import { describe, expect, it } from 'vitest';
import { resolveDirectories } from '../../../src/cli/runtime/directories.ts';

describe('directories', () => {
  it('are those of the platform', () => {
    const home = { HOME: '/home/ada' };
    expect(resolveDirectories(home, '/', { platform: 'linux' })).toEqual({
      config: '/home/ada/.config/promptrun',
      data: '/home/ada/.local/share/promptrun',
      state: '/home/ada/.local/state/promptrun',
    });
    expect(resolveDirectories(home, '/', { platform: 'darwin' }).config).toBe(
      '/home/ada/Library/Preferences/promptrun',
    );
  });

  it('follow the base directory variables, but not relative ones', () => {
    const env = { HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada', XDG_DATA_HOME: 'data' };
    expect(resolveDirectories(env, '/', { platform: 'linux' })).toMatchObject({
      config: '/etc/ada/promptrun',
      data: '/home/ada/.local/share/promptrun',
    });
  });

  it('follow those of Windows, but not relative ones', () => {
    const env = { USERPROFILE: 'C:\\Users\\Ada', APPDATA: 'E:\\Roaming', LOCALAPPDATA: 'loc' };
    const { config, data, state } = resolveDirectories(env, 'C:\\', { platform: 'win32' });
    expect([config, data, state].map(place => place.replaceAll('\\', '/'))).toEqual([
      'E:/Roaming/promptrun/Config',
      'C:/Users/Ada/AppData/Local/promptrun/Data',
      'C:/Users/Ada/AppData/Local/promptrun/State',
    ]);
  });

  it('follow the PROMPTRUN variables, relative to the working directory', () => {
    const env = {
      HOME: '/h',
      PROMPTRUN_CONFIG_DIR: 'c',
      PROMPTRUN_DATA_DIR: '/d',
      PROMPTRUN_STATE_DIR: '../s',
    };
    expect(resolveDirectories(env, '/srv/here', { platform: 'linux' })).toEqual({
      config: '/srv/here/c',
      data: '/d',
      state: '/srv/s',
    });
  });
});
