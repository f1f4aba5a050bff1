import type { Command } from 'commander';
import { MAX_QUERY_LENGTH } from '../../../wire/index.ts';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { PLAIN_PROMPT_ROW, presentPrompts } from './prompt-rows.ts';

const EXAMPLES = `
Examples:
  promptrun prompts search postcard
  promptrun prompts search weekly report --query '[].slug'

${PLAIN_PROMPT_ROW}`;

export function declarePromptsSearch(command: Command, host: Host, run = promptsSearch): void {
  command
    .argument('<words...>', 'what to look for')
    .addHelpText('after', EXAMPLES)
    .action((words: string[]) => host.runAction(command, ctx => run(ctx, { words })));
}

/** Finds prompts, best match first. */
export async function promptsSearch(
  ctx: Context,
  { words }: { readonly words: readonly string[] },
): Promise<ExitCode> {
  const query = searchQuery(words);
  const { client } = await ctx.connection();
  const { rows } = await withSpinner(ctx, 'searching', client.prompts.search(query, { signal: ctx.signal }));
  await presentPrompts(ctx, rows, 'no prompts found\n');
  return EXIT.ok;
}

function searchQuery(words: readonly string[]): string {
  const query = words.join(' ').trim();
  if (query === '')
    throw usageError('there is nothing to search for', 'for example: promptrun prompts search postcard');
  const { length } = Array.from(query);
  if (length <= MAX_QUERY_LENGTH) return query;
  throw usageError(
    `the search is ${length} characters long; at most ${MAX_QUERY_LENGTH} are possible`,
    'give fewer words',
  );
}
