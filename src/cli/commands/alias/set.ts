import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { checkedName } from '../../settings/config/names.ts';

const EXAMPLES = `
Examples:
  promptrun alias set haiku 3f1c9a52-6a0e-4a57-9d0e-6f1c2b7a8d90
  promptrun run haiku -i topic=tea`;

export function declareAliasSet(command: Command, host: Host, run = aliasSet): void {
  command
    .argument('<name>', 'the short name')
    .argument('<target>', 'a prompt version, prompt, slug or prompt file')
    .addHelpText('after', EXAMPLES)
    .action((name: string, target: string) => host.runAction(command, ctx => run(ctx, name, target)));
}

/** Gives a target a short name, in place of what that name meant before. */
export async function aliasSet(ctx: Context, name: string, target: string): Promise<ExitCode> {
  checkedName(name, 'alias');
  if (target.trim() === '') throw usageError('the target is empty');
  await ctx.settings.config.update(document => {
    document.aliases[name] = target;
  });
  await confirm(ctx, { name, target }, `${name} stands for ${target}.`);
  return EXIT.ok;
}
