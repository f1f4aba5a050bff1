import type { Connection, Context } from '../../context.ts';
import { askForInputs } from '../../inputs/ask.ts';
import { checkInputs, inputFault, suppliedInputFault } from '../../inputs/check.ts';
import { describeConfig } from '../../inputs/schema/describe.ts';
import { type ResolvedTarget, readVersion } from '../../inputs/target.ts';
import type { CollectedInputs } from '../../inputs/text-inputs.ts';
import { type Answered, type RunFlags, repeatCommand, runArgv } from './run-argv.ts';

/** What the command line gave. */
export interface Invocation {
  /** undefined where the target itself was asked for. */
  readonly target: string | undefined;
  readonly given: CollectedInputs;
  readonly flags: RunFlags;
}

const NOTHING: Answered = { text: [], images: [] };

/**
 * Asks for all that was not given where something required is missing, or with `--ask`; then says how to do the same
 * without being asked.
 */
export async function askForTheRest(
  ctx: Context,
  connection: Connection,
  found: { readonly name: string; readonly resolved: ResolvedTarget },
  { target, given, flags }: Invocation,
): Promise<{ resolved: ResolvedTarget; inputs: CollectedInputs }> {
  const { promptVersionId, config } = await readVersion(ctx, connection, found.resolved);
  const fields = describeConfig(config);
  const fault = suppliedInputFault(fields, countOf(given));
  if (fault !== undefined) throw fault;
  const resolved = { promptVersionId, mayBePrompt: false };
  if (flags.ask !== true && fields.known && inputFault(fields, countOf(given)) === undefined) {
    if (target === undefined) reportRepetition(ctx, runArgv(ctx.globals, found.name, flags, NOTHING));
    return { resolved, inputs: given };
  }
  const inputs = await askForInputs(ctx, fields, given);
  checkInputs(fields, countOf(inputs));
  const answered = answersIn(inputs, given);
  if (target === undefined || answered.text.length + answered.images.length > 0) {
    reportRepetition(ctx, runArgv(ctx.globals, found.name, flags, answered));
  }
  return { resolved, inputs };
}

function countOf({ text, images }: CollectedInputs): { text: ReadonlyMap<string, string>; images: number } {
  return { text, images: images.length };
}

function answersIn(inputs: CollectedInputs, given: CollectedInputs): Answered {
  return {
    text: [...inputs.text].filter(([key, value]) => given.text.get(key) !== value),
    images: inputs.images.slice(given.images.length),
  };
}

function reportRepetition(ctx: Context, words: readonly string[]): void {
  const command = repeatCommand(words);
  if (command !== undefined) ctx.io.note(`To repeat it: ${command}`);
}
