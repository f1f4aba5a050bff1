import type { CommandSpec } from '../../core/command-spec.ts';
import { SETTING_KEYS, SETTINGS } from '../../settings/config/setting-keys.ts';

export const CONFIG = {
  path: 'config',
  summary: 'manage settings',
  examples: ['config list', 'config set concurrency 8'],
} as const satisfies CommandSpec;

export const CONFIG_GET = {
  path: 'config get',
  summary: 'print the value of a setting',
  arguments: [['<key>', 'the name of a setting']],
  examples: ['config get concurrency'],
  notes: `Settings: ${SETTING_KEYS.join(', ')}`,
} as const satisfies CommandSpec;

export const CONFIG_SET = {
  path: 'config set',
  summary: 'change a setting',
  arguments: [
    ['<key>', 'the name of a setting'],
    ['<value>', 'its new value'],
  ],
  examples: ['config set concurrency 8', 'config set saveDir ~/pictures'],
  notes: () =>
    [
      'Settings:',
      ...SETTING_KEYS.map(
        key => `  ${key.padEnd(13)} ${SETTINGS[key].description} (${SETTINGS[key].form})`,
      ),
    ].join('\n'),
} as const satisfies CommandSpec;

export const CONFIG_UNSET = {
  path: 'config unset',
  summary: 'reset a setting to its default',
  arguments: [['<key>', 'the name of a setting']],
  examples: ['config unset concurrency'],
} as const satisfies CommandSpec;

export const CONFIG_LIST = {
  path: 'config list',
  summary: 'list every setting with its value',
  examples: ['config list'],
  notes: 'Columns when piped: key, value, source (set or default).',
} as const satisfies CommandSpec;

export const CONFIG_PATH = {
  path: 'config path',
  summary: 'list the files and directories that promptrun uses',
  examples: ['config path', `config path --query "[?name=='config'].path | [0]"`],
  notes: 'Columns when piped: name, path, contents.',
} as const satisfies CommandSpec;
