import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { present, presentList, reportOutcome } from '../../outputs/present.ts';
import {
  parseSettingValue,
  requireSettingKey,
  SETTING_KEYS,
  SETTINGS,
} from '../../settings/config/setting-keys.ts';
import { escapeControls } from '../../terminal/sanitise.ts';

/** Prints the value of a setting, or its default if it is not set. */
export async function printSetting(ctx: Context, name: string): Promise<void> {
  const key = requireSettingKey(name);
  const value = ctx.settings.get(key) ?? SETTINGS[key].default ?? null;
  const formatSettingText = (): string => `${String(value ?? '')}\n`;
  await present(ctx, value, {
    terminal: () => escapeControls(formatSettingText()),
    plain: formatSettingText,
  });
}

export async function setSetting(ctx: Context, name: string, text: string): Promise<void> {
  const key = requireSettingKey(name);
  const value = parseSettingValue(key, text);
  await ctx.settings.update(document => {
    document.settings[key] = value;
  });
  await reportOutcome(ctx, { [key]: value }, `${key} is ${String(value)}.`);
}

/** Resets a setting to its default. */
export async function resetSetting(ctx: Context, name: string): Promise<void> {
  const key = requireSettingKey(name);
  await ctx.settings.update(document => {
    delete document.settings[key];
  });
  const value = SETTINGS[key].default ?? null;
  await reportOutcome(ctx, { [key]: value }, `Unset ${key}.`);
}

/** Lists every setting with its value. API keys are not settings. */
export async function printSettings(ctx: Context): Promise<void> {
  const rows = SETTING_KEYS.map(key => {
    const setValue = ctx.settings.get(key);
    return { key, value: setValue ?? SETTINGS[key].default ?? null, isSet: setValue !== undefined };
  });
  await presentList(ctx, rows, {
    columns: [
      { title: 'KEY', cell: ({ key }) => key },
      { title: 'VALUE', minWidth: 8, cell: ({ value }) => String(value ?? '') },
      { title: 'FROM', cell: ({ isSet }) => (isSet ? 'set' : 'default') },
      {
        title: 'DESCRIPTION',
        minWidth: 16,
        dropOrder: 1,
        cell: ({ key }) => SETTINGS[key].description,
        plain: null,
      },
    ],
  });
}

/** Lists the files and directories that promptrun uses, even if they don't exist yet. */
export async function printStoredPaths(ctx: Context): Promise<void> {
  const { listStoredItems } = await import('../../settings/stored-items.ts');
  const rows = listStoredItems(ctx).map(item => ({ ...item, exists: existsSync(item.path) }));
  await presentList(ctx, rows, {
    columns: [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'PATH', hasPaths: true, cell: ({ path }) => path },
      { title: '', dropOrder: 2, cell: ({ exists }) => (exists ? '' : 'nothing yet'), plain: null },
      { title: 'CONTENTS', minWidth: 16, dropOrder: 1, cell: ({ holds }) => holds },
    ],
  });
}
