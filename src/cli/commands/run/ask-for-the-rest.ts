import type { Connection, Context } from '../../context.ts';
import { askForInputs } from '../../inputs/ask.ts';
import { checkInputs, givenFault } from '../../inputs/check-inputs.ts';
import { describeConfig } from '../../inputs/describe.ts';
import { repeatCommand } from '../../inputs/repeat-command.ts';
import { type ResolvedTarget, readVersion } from '../../inputs/target.ts';
import type { GivenInputs } from '../../inputs/text-inputs.ts';
import type { RunFlags } from './flags.ts';
import { type Answered, wordsOfRun } from './words.ts';

/** What the command line said. */
export interface Said {
  /** undefined where the target itself was asked for. */
  readonly target: string | undefined;
  readonly given: GivenInputs;
  readonly flags: RunFlags;
}

/** Asks for what the prompt wants and was not given, then says how to do the same without being asked. */
export async function askForTheRest(
  ctx: Context,
  connection: Connection,
  found: { readonly name: string; readonly resolved: ResolvedTarget },
  { target, given, flags }: Said,
): Promise<{ resolved: ResolvedTarget; inputs: GivenInputs }> {
  const { promptVersionId, config } = await readVersion(ctx, connection, found.resolved);
  const fields = describeConfig(config);
  const fault = givenFault(fields, countOf(given));
  if (fault !== undefined) throw fault;
  const inputs = await askForInputs(ctx, fields, given);
  checkInputs(fields, countOf(inputs));
  const answered = answersIn(inputs, given);
  if (target === undefined || answered.text.length + answered.images.length > 0) {
    tellRepetition(ctx, wordsOfRun(ctx.globals, found.name, flags, answered));
  }
  return { resolved: { promptVersionId, mayBePrompt: false }, inputs };
}

function countOf({ text, images }: GivenInputs): { text: ReadonlyMap<string, string>; images: number } {
  return { text, images: images.length };
}

function answersIn(inputs: GivenInputs, given: GivenInputs): Answered {
  return {
    text: [...inputs.text].filter(([key, value]) => given.text.get(key) !== value),
    images: inputs.images.slice(given.images.length),
  };
}

function tellRepetition(ctx: Context, words: readonly string[]): void {
  const command = repeatCommand(words);
  if (command !== undefined) ctx.io.note(`To repeat it: ${command}`);
}
