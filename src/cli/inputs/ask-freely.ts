import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { collectInputs } from './text-inputs.ts';

/** Takes `key=value` pairs, as `--input` does, until an empty line. */
export async function askFreely(ctx: Context): Promise<[key: string, value: string][]> {
  const prompter = await ctx.prompter();
  const text = new Map<string, string>();
  for (;;) {
    const answer = await prompter.text(
      {
        message: 'input',
        lines: 'several items',
        description:
          text.size === 0
            ? 'This prompt does not tell which inputs it takes: enter them as key=value; an empty line goes on.'
            : 'One more as key=value; an empty line goes on.',
        check: pair => pairProblem(ctx, pair),
      },
      ctx.signal,
    );
    if (answer === '') return [...text];
    for (const [key, value] of await read(ctx, answer)) text.set(key, value);
  }
}

async function read(ctx: Context, pair: string): Promise<ReadonlyMap<string, string>> {
  return (await collectInputs(ctx, { inputs: pairsIn(pair), images: [] })).text;
}

/** Several pairs pasted at once, or one whose value has several lines. */
function pairsIn(answer: string): readonly string[] {
  const lines = answer.split('\n');
  return lines.every(line => /^[^=\s][^=]*=/u.test(line)) ? lines : [answer];
}

/** What `--input` would say of it. */
async function pairProblem(ctx: Context, pair: string): Promise<string | undefined> {
  if (pair === '') {
    return undefined;
  }
  if (pairsIn(pair).some(one => one.endsWith('=@-'))) {
    return 'Standard input is this terminal: give the value or @file.';
  }
  return problemOf(() => read(ctx, pair), '--input ');
}

/** Why an answer can't be used, without the name of the flag that would say so; undefined where it can. */
export async function problemOf(use: () => Promise<unknown>, flag: string): Promise<string | undefined> {
  try {
    await use();
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message } = error;
    return message.startsWith(flag) ? message.slice(flag.length) : message;
  }
}
