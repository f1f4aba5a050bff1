import type { Context } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { connectionFor } from '../../inputs/prompt-file.ts';
import { askOfPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { resolveTarget } from '../../inputs/target.ts';
import { presentList } from '../../outputs/present.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import type { Column } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'PROMPT VERSION', ids: true },
  { title: 'PUBLISHED', min: 8 },
  { title: '' },
];

/** Lists the published versions of a prompt, newest first. */
export async function versionsList(ctx: Context, prompt: string): Promise<void> {
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const { versions } = await askOfPrompt(connection, named, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  const cellsWith = (time: (iso: string) => string) => (version: (typeof versions)[number]) => [
    fieldText(version.promptVersionId),
    time(fieldText(version.publishedAt)),
    version.isLatest === true ? 'latest' : '',
  ];
  await presentList(ctx, versions, {
    columns: COLUMNS,
    cells: cellsWith(iso => iso),
    shown: cellsWith(iso => ageOf(iso, ctx.clock.now())),
  });
}

/** Shows one version of a prompt and the inputs it expects. */
export async function versionsGet(ctx: Context, promptVersionId: string): Promise<void> {
  const connection = await connectionFor(ctx, promptVersionId);
  const named = await resolveTarget(ctx, connection, promptVersionId);
  const version = await connection.client.versions.get(named.promptVersionId, { signal: ctx.signal });
  connection.prompts.put(version);
  await presentPromptVersion(ctx, version, connection);
}
