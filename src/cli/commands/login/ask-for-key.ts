import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readStandardInput } from '../../inputs/read-text.ts';
import { checkedKey } from '../../settings/key-text.ts';

/** The key as typed, unseen, on a terminal; else what standard input holds. */
export async function askForKey(ctx: Context, baseUrl: string): Promise<string> {
  if (!ctx.io.stdin.isTerminal)
    return checkedKey((await readStandardInput(ctx)).toString().trim(), 'standard input');
  if (!ctx.interactive) {
    throw usageError(
      'login may not ask for the key here',
      'Give it on standard input: promptrun login < key.txt',
    );
  }
  const prompter = await ctx.prompter();
  const typed = await prompter.secret({ message: `API key for ${new URL(baseUrl).host}` }, ctx.signal);
  return checkedKey(typed.trim(), 'the key typed');
}
