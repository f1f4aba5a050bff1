import type { Context } from '../../context.ts';
import { confirm, present } from '../../outputs/present.ts';
import { SETTINGS, settingKey, settingValue } from '../../settings/config/setting-keys.ts';
import { visible } from '../../terminal/sanitise.ts';

/** Prints the value of a setting, or its default if it is not set. */
export async function configGet(ctx: Context, name: string): Promise<void> {
  const key = settingKey(name);
  const value = ctx.settings.get(key) ?? SETTINGS[key].default ?? null;
  const text = (): string => `${String(value ?? '')}\n`;
  await present(ctx, value, { terminal: () => visible(text()), plain: text });
}

/** Changes a setting. */
export async function configSet(ctx: Context, name: string, text: string): Promise<void> {
  const key = settingKey(name);
  const value = settingValue(key, text);
  await ctx.settings.update(document => {
    document.settings[key] = value;
  });
  await confirm(ctx, { [key]: value }, `${key} is ${String(value)}.`);
}

/** Puts a setting back to its default. */
export async function configUnset(ctx: Context, name: string): Promise<void> {
  const key = settingKey(name);
  await ctx.settings.update(document => {
    delete document.settings[key];
  });
  const value = SETTINGS[key].default ?? null;
  await confirm(ctx, { [key]: value }, `${key} is not set any more.`);
}
