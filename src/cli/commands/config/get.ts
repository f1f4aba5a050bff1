import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { SETTING_KEYS, SETTINGS, settingKey } from '../../settings/config/setting-keys.ts';
import { visible } from '../../terminal/sanitise.ts';

const EXAMPLES = `
Settings: ${SETTING_KEYS.join(', ')}

Examples:
  promptrun config get concurrency`;

export function declareConfigGet(command: Command, host: Host, run = configGet): void {
  command
    .argument('<key>', 'a setting')
    .addHelpText('after', EXAMPLES)
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
