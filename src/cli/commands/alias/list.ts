import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun alias list

Piped, a line is: name, target.`;

const COLUMNS: readonly Column[] = [
  { title: 'NAME', min: 8 },
  { title: 'TARGET', min: 16 },
];

export function declareAliasList(command: Command, host: Host, run = aliasList): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

/** Lists the aliases with what they stand for. */
export async function aliasList(ctx: Context): Promise<ExitCode> {
  const rows = ctx.settings.aliases.entries().map(([name, target]) => ({ name, target }));
  const cells = rows.map(({ name, target }) => [name, target]);
  await present(ctx, rows, {
    terminal: () => (rows.length === 0 ? 'no aliases\n' : terminalTable(ctx.io, COLUMNS, cells)),
    plain: () => plainRows(cells),
  });
  return EXIT.ok;
}
