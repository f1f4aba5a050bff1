import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { connectionFor } from '../../inputs/prompt-file.ts';
import { resolveTarget } from '../../inputs/target.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';

const EXAMPLES = `
Examples:
  promptrun versions get 9b1f7c4e-1d0a-4a52-8f4c-2b6f3f1f0d77
  promptrun versions get hello@9b1f7c4e --json`;

export function declareVersionsGet(command: Command, host: Host, run = versionsGet): void {
  command
    .argument('<promptVersionId>', 'the id of a version, an alias, slug@<beginning of the id>, or a slug')
    .addHelpText('after', EXAMPLES)
    .action((promptVersionId: string) => host.runAction(command, ctx => run(ctx, { promptVersionId })));
}

/** Shows one version of a prompt and the inputs it expects. */
export async function versionsGet(
  ctx: Context,
  { promptVersionId }: { readonly promptVersionId: string },
): Promise<ExitCode> {
  const connection = await connectionFor(ctx, promptVersionId);
  const named = await resolveTarget(ctx, connection, promptVersionId);
  const version = await connection.client.versions.get(named.promptVersionId, { signal: ctx.signal });
  connection.prompts.put(version);
  await presentPromptVersion(ctx, version);
  return EXIT.ok;
}
