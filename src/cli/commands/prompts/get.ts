import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';

export interface PromptsGetOptions {
  readonly promptId: string;
  /** The latest version when left out. */
  readonly versionId?: string;
}

const EXAMPLES = `
Examples:
  promptrun prompts get 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11
  promptrun prompts get 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11 --query config.textInputs`;

export function declarePromptsGet(command: Command, host: Host, run = promptsGet): void {
  command
    .argument('<promptId>', 'the prompt')
    .option('--version-id <promptVersionId>', 'this version instead of the latest')
    .addHelpText('after', EXAMPLES)
    .action((promptId: string, flags: { versionId?: string }) =>
      host.runAction(command, ctx => run(ctx, { promptId, ...flags })),
    );
}

/** Shows a prompt: title, version, the inputs it expects. */
export async function promptsGet(
  ctx: Context,
  { promptId, versionId }: PromptsGetOptions,
): Promise<ExitCode> {
  const { client, prompts } = await ctx.connection();
  const version = await client.prompts.get(promptId, {
    ...(versionId === undefined ? {} : { versionId }),
    signal: ctx.signal,
  });
  prompts.put(version);
  await presentPromptVersion(ctx, version);
  return EXIT.ok;
}
