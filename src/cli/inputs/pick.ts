import type { PromptVersionEntry } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { ageOf } from '../outputs/age.ts';
import { pickOptions } from './pick-options.ts';
import { type PickedPrompt, pickPrompt } from './pick-prompt.ts';

/** What a person chose to run. */
export interface Picked {
  /** An alias or a prompt version. */
  readonly target: string;
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Lets a person choose what to run: prompt, version, run options; what `given` names already is not asked for.
 *
 * @throws {CliError} USAGE_ERROR where nobody can be asked
 */
export async function pickRun(ctx: Context, given: ReadonlyMap<string, string>): Promise<Picked> {
  if (!ctx.interactive) {
    throw usageError(
      'what to run is missing',
      'give an alias, a prompt file, an id or a slug: promptrun run <target>',
      'find prompts with: promptrun prompts search <words>',
    );
  }
  const connection = await ctx.connection();
  const prompt = await pickPrompt(ctx, connection);
  const target = prompt.alias ?? (await pickVersion(ctx, connection, prompt));
  const options = given.size > 0 ? given : await pickOptions(ctx, connection, prompt.modality);
  return { target, options };
}

/** The latest version where there is no other to choose. */
async function pickVersion(ctx: Context, connection: Connection, prompt: PickedPrompt): Promise<string> {
  const { versions } = await connection.client.versions.list(prompt.promptId, { signal: ctx.signal });
  const [first, ...older] = versions;
  if (first === undefined || older.length === 0) {
    return first?.promptVersionId ?? prompt.promptVersionId;
  }
  const latest = versions.find(version => version.isLatest) ?? first;
  const prompter = await ctx.prompter();
  return prompter.choice(
    {
      message: 'version',
      choices: versions.map(version => ({
        value: version.promptVersionId,
        name: versionName(ctx, version, version === latest),
      })),
      default: latest.promptVersionId,
    },
    ctx.signal,
  );
}

function versionName(ctx: Context, version: PromptVersionEntry, isLatest: boolean): string {
  const age = ageOf(version.publishedAt, ctx.clock.now());
  return `${isLatest ? 'latest, ' : ''}published ${age}  ${version.promptVersionId}`;
}
