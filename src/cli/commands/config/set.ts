import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { SETTING_KEYS, SETTINGS, settingKey, settingValue } from '../../settings/config/setting-keys.ts';

const EXAMPLES = `
Settings:
${SETTING_KEYS.map(key => `  ${key.padEnd(12)} ${SETTINGS[key].description} (${SETTINGS[key].form})`).join('\n')}

Examples:
  promptrun config set concurrency 8
  promptrun config set saveDir ~/pictures`;

export function declareConfigSet(command: Command, host: Host, run = configSet): void {
  command
    .argument('<key>', 'a setting')
    .argument('<value>', 'its new value')
    .addHelpText('after', EXAMPLES)
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
