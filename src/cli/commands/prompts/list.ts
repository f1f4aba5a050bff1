import type { Command } from 'commander';
import { NotFoundError } from '../../../client/errors.ts';
import type { PromptSearchRow } from '../../../wire/index.ts';
import type { Connection, Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { PLAIN_PROMPT_ROW, presentPrompts } from './prompt-rows.ts';

const EXAMPLES = `
Examples:
  promptrun prompts list
  promptrun prompts list --query '[].slug'

The service of this machine has such a list; other services are searched: promptrun prompts search <words>.
${PLAIN_PROMPT_ROW}`;

export function declarePromptsList(command: Command, host: Host, run = promptsList): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

/** Lists every published prompt of the service, newest first. */
export async function promptsList(ctx: Context): Promise<ExitCode> {
  const connection = await ctx.connection();
  const rows = await withSpinner(ctx, 'asking for the prompts', allPrompts(connection, ctx.signal));
  await presentPrompts(ctx, rows, 'no prompts\n');
  return EXIT.ok;
}

async function allPrompts({ client, baseUrl }: Connection, signal: AbortSignal): Promise<PromptSearchRow[]> {
  const rows: PromptSearchRow[] = [];
  try {
    for await (const row of client.prompts.all({}, { signal })) rows.push(row);
    return rows;
  } catch (error) {
    if (!(error instanceof NotFoundError) || rows.length > 0) throw error;
    throw usageError(
      `${new URL(baseUrl).host} does not list its prompts`,
      'Search them with: promptrun prompts search <words>',
    );
  }
}
