import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { connectionFor } from '../../inputs/prompt-file.ts';
import { askOfPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { resolveTarget } from '../../inputs/target.ts';
import { present } from '../../outputs/present.ts';
import { presentPromptVersion } from '../../outputs/prompt-details.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const LIST_EXAMPLES = `
Examples:
  promptrun versions list hello
  promptrun versions list 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11 --query '[0].promptVersionId'

Piped, a line is: prompt version, time, and "latest" for the latest one.`;

const COLUMNS: readonly Column[] = [
  { title: 'PROMPT VERSION', ids: true },
  { title: 'PUBLISHED', min: 8 },
  { title: '' },
];

export function declareVersionsList(command: Command, host: Host, run = versionsList): void {
  command
    .argument('<prompt>', 'an alias, a prompt file, an id or a slug')
    .addHelpText('after', LIST_EXAMPLES)
    .action((prompt: string) => host.runAction(command, ctx => run(ctx, { prompt })));
}

/** Lists the published versions of a prompt, newest first. */
export async function versionsList(ctx: Context, { prompt }: { readonly prompt: string }): Promise<ExitCode> {
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const { versions } = await askOfPrompt(connection, named, ctx.signal, ({ promptId }) =>
    connection.client.versions.list(promptId, { signal: ctx.signal }),
  );
  const rows = (time: (iso: string) => string): string[][] =>
    versions.map(version => [
      fieldText(version.promptVersionId),
      time(fieldText(version.publishedAt)),
      version.isLatest === true ? 'latest' : '',
    ]);
  await present(ctx, versions, {
    terminal: () =>
      terminalTable(
        ctx.io,
        COLUMNS,
        rows(iso => ageOf(iso, ctx.clock.now())),
      ),
    plain: () => plainRows(rows(iso => iso)),
    paged: true,
  });
  return EXIT.ok;
}

const GET_EXAMPLES = `
Examples:
  promptrun versions get 9b1f7c4e-1d0a-4a52-8f4c-2b6f3f1f0d77
  promptrun versions get hello@9b1f7c4e --json`;

export function declareVersionsGet(command: Command, host: Host, run = versionsGet): void {
  command
    .argument('<promptVersionId>', 'the id of a version, an alias, slug@<beginning of the id>, or a slug')
    .addHelpText('after', GET_EXAMPLES)
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
  await presentPromptVersion(ctx, version, connection);
  return EXIT.ok;
}
