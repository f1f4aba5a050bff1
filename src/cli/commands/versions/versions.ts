import type { Context } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { presentList } from '../../outputs/present.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { connectionFor } from '../../targets/prompt-file.ts';
import { askOfPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { resolveTarget } from '../../targets/target.ts';

/** Lists the published versions of a prompt, newest first. */
export async function versionsList(ctx: Context, prompt: string): Promise<void> {
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const { versions } = await askOfPrompt(connection, named, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  await presentList(ctx, versions, {
    columns: [
      { title: 'PROMPT VERSION', ids: true, cell: ({ promptVersionId }) => fieldText(promptVersionId) },
      {
        title: 'PUBLISHED',
        min: 8,
        cell: ({ publishedAt }) => ageOf(fieldText(publishedAt), ctx.clock.now()),
        plain: ({ publishedAt }) => fieldText(publishedAt),
      },
      { title: '', cell: ({ isLatest }) => (isLatest === true ? 'latest' : '') },
    ],
  });
}

/** Shows one version of a prompt and the inputs it expects. */
export async function versionsGet(ctx: Context, promptVersionId: string): Promise<void> {
  const connection = await connectionFor(ctx, promptVersionId);
  const named = await resolveTarget(ctx, connection, promptVersionId, { source: 'command line' });
  const version = await connection.client.versions.get(named.promptVersionId, { signal: ctx.signal });
  connection.prompts.put(version);
  await presentPromptVersion(ctx, version, connection);
}
