import type { Command } from 'commander';
import { isUuid } from '../../../wire/index.ts';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { connectionFor } from '../../inputs/prompt-file.ts';
import { askOfPrompt, readPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { withSpinner } from '../../terminal/spinner.ts';

export interface PromptsGetOptions {
  /** An alias, a prompt file, an id or a slug. */
  readonly prompt: string;
  /** The version that `prompt` says, or the latest one, when left out. */
  readonly versionId?: string;
}

const EXAMPLES = `
Examples:
  promptrun prompts get hello
  promptrun prompts get hello@3f0a9f0e
  promptrun prompts get 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11 --query config.textInputs

The prompt is an alias, a prompt file, the id of a prompt or of a version, or a slug.`;

export function declarePromptsGet(command: Command, host: Host, run = promptsGet): void {
  command
    .argument('<prompt>', 'which prompt')
    .option('--version-id <promptVersionId>', 'this version instead of the latest')
    .addHelpText('after', EXAMPLES)
    .action((prompt: string, flags: { versionId?: string }) =>
      host.runAction(command, ctx => run(ctx, { prompt, ...flags })),
    );
}

/** Shows a prompt: title, version, the inputs it expects, and of the local service its template. */
export async function promptsGet(ctx: Context, { prompt, versionId }: PromptsGetOptions): Promise<ExitCode> {
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const chosen = versionId === undefined ? named : { ...named, promptVersionId: versionId };
  const version = await withSpinner(
    ctx,
    'asking for the prompt',
    askOfPrompt(connection, chosen, ctx.signal, of => readPrompt(connection, of, ctx.signal)),
  );
  const isId = versionId !== undefined || isUuid(prompt);
  await presentPromptVersion(ctx, version, connection, ...(isId ? [] : [prompt]));
  return EXIT.ok;
}
