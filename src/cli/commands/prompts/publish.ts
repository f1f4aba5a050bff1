import { statSync } from 'node:fs';
import path from 'node:path';
import type { LocalStore } from '../../../service/lifecycle/local-store.ts';
import type { Published } from '../../../service/prompts/publish.ts';
import type { Context } from '../../context.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { databaseUrl } from '../../settings/config/database.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

interface PromptsPublishFlags {
  /** Slugs to withdraw. */
  readonly unpublish: readonly string[];
  /** A URL of PostgreSQL. */
  readonly database?: string;
}

const COLUMNS: readonly Column[] = [
  { title: 'SLUG', min: 8 },
  { title: 'PROMPT VERSION', min: 8 },
  { title: 'TITLE', min: 8, dropOrder: 1 },
  { title: 'STATE' },
];

type Row = Published | { readonly slug: string; readonly unpublished: true };

/** Publishes prompt files to the local service, and withdraws prompts. */
export async function promptsPublish(
  ctx: Context,
  files: readonly string[],
  { unpublish, database }: PromptsPublishFlags,
): Promise<ExitCode> {
  if (files.length + unpublish.length === 0) throw usageError('give prompt files, or --unpublish <slug>');
  requireLocalService(ctx, 'prompts publish');
  const paths = files.map(file => promptFile(ctx, file));
  const onNotice = (line: string): void => ctx.io.note(`note: ${oneLine(line)}`);
  const store = await ctx.local.open({
    dataDir: ctx.dataDir,
    database: databaseUrl(ctx, database),
    onNotice,
  });
  const rows: Row[] = [];
  try {
    for (const file of paths) rows.push(await store.publish(file));
    for (const slug of unpublish) rows.push(await withdraw(store, slug));
  } finally {
    await store.close();
    if (rows.length > 0) await show(ctx, rows);
  }
  return EXIT.ok;
}

function promptFile({ cwd }: Context, given: string): string {
  const file = path.resolve(cwd, given);
  if (path.extname(file) !== '.prompt')
    throw usageError(`${given} is not a prompt file: its name must end in .prompt`);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`there is no file ${given}`);
  if (!stats.isFile()) throw usageError(`${given} is not a file`);
  return file;
}

async function withdraw(store: LocalStore, slug: string): Promise<Row> {
  if (await store.unpublish(slug)) return { slug, unpublished: true };
  throw notFoundError(`no prompt '${slug}' is published`, 'promptrun prompts search finds those that are.');
}

async function show(ctx: Context, rows: readonly Row[]): Promise<void> {
  const cells = rows.map(row =>
    'unpublished' in row
      ? [row.slug, '', '', 'unpublished']
      : [row.slug, row.promptVersionId, row.title, row.changed ? 'published' : 'unchanged'],
  );
  await present(ctx, rows, {
    terminal: () => terminalTable(ctx.io, COLUMNS, cells),
    plain: () => plainRows(cells),
  });
}
