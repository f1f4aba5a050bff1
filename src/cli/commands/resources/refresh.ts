import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { plainRows } from '../../terminal/table.ts';

const EXAMPLES = `
Example:
  promptrun resources refresh`;

export function declareResourcesRefresh(command: Command, host: Host, run = resourcesRefresh): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

/** Renews the models that are held. */
export async function resourcesRefresh(ctx: Context): Promise<ExitCode> {
  const { resources } = await ctx.connection();
  const answer = await resources.refresh({ signal: ctx.signal });
  const count = answer.resources.models.length;
  await present(ctx, answer, {
    terminal: () => `${count} model${count === 1 ? '' : 's'} held, hash ${oneLine(answer.hash)}\n`,
    plain: () => plainRows([[answer.hash, String(count)]]),
  });
  if (!resources.isKept) ctx.io.note('They could not be kept: --debug tells why.');
  return EXIT.ok;
}
