import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { visible } from '../../terminal/sanitise.ts';

const EXAMPLES = `
Examples:
  promptrun config path
  ls "$(dirname "$(promptrun config path)")"`;

export function declareConfigPath(command: Command, host: Host, run = configPath): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

/** Prints where the settings are kept, whether or not there are any yet. */
export async function configPath(ctx: Context): Promise<ExitCode> {
  const { file } = ctx.settings.config;
  await present(ctx, { path: file }, { terminal: () => `${visible(file)}\n`, plain: () => `${file}\n` });
  return EXIT.ok;
}
