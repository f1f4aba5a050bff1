import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import { fieldText } from '../../core/json-value.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun versions list 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11
  promptrun versions list 3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11 --query '[0].promptVersionId'

Piped, a line is: prompt version, time, and "latest" for the latest one.`;

const COLUMNS: readonly Column[] = [
  { title: 'PROMPT VERSION' },
  { title: 'PUBLISHED', min: 8 },
  { title: '' },
];

export function declareVersionsList(command: Command, host: Host, run = versionsList): void {
  command
    .argument('<promptId>', 'the prompt')
    .addHelpText('after', EXAMPLES)
    .action((promptId: string) => host.runAction(command, ctx => run(ctx, { promptId })));
}

/** Lists the published versions of a prompt, newest first. */
export async function versionsList(
  ctx: Context,
  { promptId }: { readonly promptId: string },
): Promise<ExitCode> {
  const { client } = await ctx.connection();
  const { versions } = await client.versions.list(promptId, { signal: ctx.signal });
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
