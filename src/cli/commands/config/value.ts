import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm, present } from '../../outputs/present.ts';
import { SETTING_KEYS, SETTINGS, settingKey, settingValue } from '../../settings/config/setting-keys.ts';
import { visible } from '../../terminal/sanitise.ts';

const GET_EXAMPLES = `
Settings: ${SETTING_KEYS.join(', ')}

Examples:
  promptrun config get concurrency`;

export function declareConfigGet(command: Command, host: Host, run = configGet): void {
  command
    .argument('<key>', 'a setting')
    .addHelpText('after', GET_EXAMPLES)
    .action((key: string) => host.runAction(command, ctx => run(ctx, key)));
}

/** Prints the value of a setting, or its default where it is not set. */
export async function configGet(ctx: Context, name: string): Promise<ExitCode> {
  const key = settingKey(name);
  const value = ctx.settings.get(key) ?? SETTINGS[key].default ?? null;
  const text = (): string => `${String(value ?? '')}\n`;
  await present(ctx, value, { terminal: () => visible(text()), plain: text });
  return EXIT.ok;
}

const SET_EXAMPLES = `
Settings:
${SETTING_KEYS.map(key => `  ${key.padEnd(12)} ${SETTINGS[key].description} (${SETTINGS[key].form})`).join('\n')}

Examples:
  promptrun config set concurrency 8
  promptrun config set saveDir ~/pictures`;

export function declareConfigSet(command: Command, host: Host, run = configSet): void {
  command
    .argument('<key>', 'a setting')
    .argument('<value>', 'its new value')
    .addHelpText('after', SET_EXAMPLES)
    .action((key: string, value: string) => host.runAction(command, ctx => run(ctx, key, value)));
}

/** Changes a setting. */
export async function configSet(ctx: Context, name: string, text: string): Promise<ExitCode> {
  const key = settingKey(name);
  const value = settingValue(key, text);
  await ctx.settings.config.update(document => {
    document.settings[key] = value;
  });
  await confirm(ctx, { [key]: value }, `${key} is ${String(value)}.`);
  return EXIT.ok;
}

const UNSET_EXAMPLES = `
Examples:
  promptrun config unset concurrency`;

export function declareConfigUnset(command: Command, host: Host, run = configUnset): void {
  command
    .argument('<key>', 'a setting')
    .addHelpText('after', UNSET_EXAMPLES)
    .action((key: string) => host.runAction(command, ctx => run(ctx, key)));
}

/** Puts a setting back to its default. */
export async function configUnset(ctx: Context, name: string): Promise<ExitCode> {
  const key = settingKey(name);
  await ctx.settings.config.update(document => {
    delete document.settings[key];
  });
  const value = SETTINGS[key].default ?? null;
  await confirm(ctx, { [key]: value }, `${key} is not set any more.`);
  return EXIT.ok;
}
