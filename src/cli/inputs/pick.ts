import type { PromptVersionEntry } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { ageOf } from '../outputs/age.ts';
import { pickOptions } from './pick-options.ts';
import { type PickedPrompt, pickPrompt } from './pick-prompt.ts';

/** What a person chose to run. */
export interface Picked {
  /** An alias or a prompt version. */
  readonly target: string;
  /** Run options as `--option` takes them. */
  readonly options: readonly string[];
}

/** Lets a person choose prompt and version, and run options where none were given. */
export async function pickRun(
  ctx: Context,
  connection: Connection,
  given: readonly string[],
): Promise<Picked> {
  const prompt = await pickPrompt(ctx, connection);
  const target = prompt.alias ?? (await pickVersion(ctx, connection, prompt));
  const options = given.length > 0 ? given : await pickOptions(ctx, connection, prompt.modality);
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
        description: version.promptVersionId,
      })),
      default: latest.promptVersionId,
    },
    ctx.signal,
  );
}

function versionName(ctx: Context, version: PromptVersionEntry, isLatest: boolean): string {
  const age = ageOf(version.publishedAt, ctx.clock.now());
  return isLatest ? `the latest, published ${age}` : `published ${age}`;
}
