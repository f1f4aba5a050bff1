import { usageError } from '../../core/errors.ts';
import { requireOneOf } from '../../core/unknown-name.ts';

/** The settings and the types of their values. */
export interface SettingValues {
  concurrency: number;
  rate: number;
  saveDir: string;
  preview: boolean;
  pager: string;
  keychain: boolean;
  exclusiveKey: boolean;
  model: string;
  judge: string;
}

export type SettingKey = keyof SettingValues;

interface SettingRule<T> {
  readonly description: string;
  /** The default shown by `config`; undefined if something else decides. */
  readonly default: T | undefined;
  /** The form of values, for messages. */
  readonly form: string;
  /** Parses a value; undefined if the text is not valid. */
  readonly parse: (text: string) => T | undefined;
}

const SWITCH_RULE = { form: 'true or false', parse: parseSwitch };

/** Every setting, in display order. */
export const SETTINGS: { readonly [K in SettingKey]: SettingRule<SettingValues[K]> } = {
  concurrency: {
    description: 'maximum number of open creations of a batch',
    default: 4,
    form: 'a whole number from 1 to 1000',
    parse: text =>
      /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 1000
        ? Number(text)
        : undefined,
  },
  rate: {
    description: 'maximum requests per second of a batch, 0 for no limit',
    default: 5,
    form: 'a number from 0',
    parse: text => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined),
  },
  saveDir: {
    description: 'the default directory of --save',
    default: '.',
    form: 'a directory',
    parse: text => (text.trim() === '' ? undefined : text),
  },
  preview: {
    description: 'show small previews of images if the terminal supports them',
    default: true,
    ...SWITCH_RULE,
  },
  pager: {
    description: 'the pager for long results, cat for none',
    default: undefined,
    form: 'a command',
    parse: text => (parseSwitch(text) === false ? 'cat' : text),
  },
  keychain: {
    description: 'keep keys in the system keychain if there is one',
    default: true,
    ...SWITCH_RULE,
  },
  exclusiveKey: {
    description:
      'nobody else uses the key, so a run whose creation was not answered may be recovered from the list of runs',
    default: false,
    ...SWITCH_RULE,
  },
  model: {
    description: 'the model of prompt files that name none; echo if not set',
    default: undefined,
    form: 'a model',
    parse: text => (/^\S+$/u.test(text) ? text : undefined),
  },
  judge: {
    description: 'the default model that judges rubrics',
    default: undefined,
    form: 'a model',
    parse: text => (/^\S+$/u.test(text) ? text : undefined),
  },
};

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

/** Returns the setting of this name. @throws {CliError} USAGE_ERROR that names the nearest one */
export function requireSettingKey(text: string): SettingKey {
  return requireOneOf('setting', text, SETTING_KEYS);
}

/** Parses the value of a setting. @throws {CliError} USAGE_ERROR if it is not valid */
export function parseSettingValue<K extends SettingKey>(key: K, text: string): SettingValues[K] {
  const value = SETTINGS[key].parse(text);
  if (value === undefined) {
    throw usageError(`'${text}' is not a value of ${key}: it takes ${SETTINGS[key].form}`);
  }
  return value;
}

function parseSwitch(text: string): boolean | undefined {
  if (/^(true|on|yes|1)$/i.test(text)) return true;
  return /^(false|off|no|never|0)$/i.test(text) ? false : undefined;
}
