import type { CommandSpec } from '../../core/command-spec.ts';
import { SETTING_KEYS, SETTINGS } from '../../settings/config/setting-keys.ts';

export const CONFIG = {
  path: 'config',
  summary: 'settings',
  examples: ['config list', 'config set concurrency 8'],
} as const satisfies CommandSpec;

export const CONFIG_GET = {
  path: 'config get',
  summary: 'the value of a setting',
  arguments: [['<key>', 'a setting']],
  examples: ['config get concurrency'],
  notes: `Settings: ${SETTING_KEYS.join(', ')}`,
} as const satisfies CommandSpec;

export const CONFIG_SET = {
  path: 'config set',
  summary: 'change a setting',
  arguments: [
    ['<key>', 'a setting'],
    ['<value>', 'its new value'],
  ],
  examples: ['config set concurrency 8', 'config set saveDir ~/pictures'],
  notes: () =>
    [
      'Settings:',
      ...SETTING_KEYS.map(key => `  ${key.padEnd(12)} ${SETTINGS[key].description} (${SETTINGS[key].form})`),
    ].join('\n'),
} as const satisfies CommandSpec;

export const CONFIG_UNSET = {
  path: 'config unset',
  summary: 'put a setting back to its default',
  arguments: [['<key>', 'a setting']],
  examples: ['config unset concurrency'],
} as const satisfies CommandSpec;

export const CONFIG_LIST = {
  path: 'config list',
  summary: 'every setting with its value',
  examples: ['config list'],
  notes: 'Piped, a line is: key, value, set or default.',
} as const satisfies CommandSpec;

export const CONFIG_PATH = {
  path: 'config path',
  summary: 'every place where something is kept',
  examples: ['config path', `config path --query "[?name=='config'].path | [0]"`],
  notes: 'Piped, a line is: name, path, what is kept there.',
} as const satisfies CommandSpec;
