import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { SETTINGS, settingKey } from '../../settings/config/setting-keys.ts';

const EXAMPLES = `
Examples:
  promptrun config unset concurrency`;

export function declareConfigUnset(command: Command, host: Host, run = configUnset): void {
  command
    .argument('<key>', 'a setting')
    .addHelpText('after', EXAMPLES)
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
