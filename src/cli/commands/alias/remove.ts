import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { didYouMeanHint } from '../../core/nearest.ts';
import { type CliError, usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';

const EXAMPLES = `
Examples:
  promptrun alias remove haiku`;

export function declareAliasRemove(command: Command, host: Host, run = aliasRemove): void {
  command
    .argument('<name>', 'the alias')
    .addHelpText('after', EXAMPLES)
    .action((name: string) => host.runAction(command, ctx => run(ctx, name)));
}

/** Forgets an alias. */
export async function aliasRemove(ctx: Context, name: string): Promise<ExitCode> {
  await ctx.settings.config.update(document => {
    if (!Object.hasOwn(document.aliases, name)) throw unknownAlias(name, Object.keys(document.aliases));
    delete document.aliases[name];
  });
  await confirm(ctx, { removed: name }, `The alias ${name} is forgotten.`);
  return EXIT.ok;
}

function unknownAlias(name: string, aliases: readonly string[]): CliError {
  return usageError(`there is no alias '${name}'`, ...didYouMeanHint(name, aliases));
}
