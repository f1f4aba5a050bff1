import type { RunRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { askOfPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { jsonLine, wantsJson } from '../../outputs/json.ts';
import { presentList } from '../../outputs/present.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { type Cell, type Column, plainRow, runStatusCell } from '../../terminal/table.ts';
import { type Pages, type Rest, type RunsListFlags, runPages, runsListRequest } from './list-request.ts';

/** Lists your runs, newest first. */
export async function runsList(ctx: Context, flags: RunsListFlags): Promise<ExitCode> {
  const request = runsListRequest(flags, ctx.clock.now());
  const connection = await ctx.connection();
  const promptVersions =
    flags.prompt === undefined ? undefined : await versionsOf(ctx, connection, flags.prompt);
  const wanted = { ...request, ...(promptVersions && { promptVersions }) };
  const pages = runPages(connection.client.runs, wanted, ctx.signal);
  const rest = streams(ctx, flags) ? await stream(ctx, flags, pages) : await show(ctx, pages);
  if (rest !== undefined) ctx.io.note(`more runs: ${rest.flag} ${shellWord(rest.cursor)}`);
  return EXIT.ok;
}

/** The versions of a prompt, or the one that the name stands for. @throws {CliError} exit 4 if there is no such prompt */
async function versionsOf(ctx: Context, connection: Connection, name: string): Promise<ReadonlySet<string>> {
  const named = await resolvePrompt(ctx, connection, name);
  const { signal } = ctx;
  return askOfPrompt(connection, named, signal, async ({ promptId, promptVersionId }) => {
    if (promptVersionId !== undefined) return new Set([promptVersionId]);
    const { versions } = await connection.client.versions.list(promptId, { signal });
    return new Set(versions.map(version => version.promptVersionId));
  });
}

/** Whether rows are written as they come: as NDJSON, and as lines for a program. */
function streams(ctx: Context, flags: RunsListFlags): boolean {
  return flags.ndjson === true || !(wantsJson(ctx) || ctx.io.stdout.isTerminal);
}

async function stream(ctx: Context, flags: RunsListFlags, pages: Pages): Promise<Rest | undefined> {
  for (;;) {
    const page = await pages.next();
    if (page.done === true) return page.value;
    const lines = page.value.map(async row =>
      flags.ndjson === true ? jsonLine(ctx, row) : plainRow(plainCells(ctx, row)),
    );
    if (!(await ctx.io.out((await Promise.all(lines)).join('')))) return undefined;
  }
}

async function show(ctx: Context, pages: Pages): Promise<Rest | undefined> {
  const { rows, rest } = await withSpinner(ctx, 'asking for the runs', allRows(pages));
  await presentList(ctx, rows, {
    columns: COLUMNS,
    cells: row => plainCells(ctx, row),
    shown: row => shownCells(ctx, row),
    nothing: 'no runs',
  });
  return rest;
}

async function allRows(pages: Pages): Promise<{ rows: RunRow[]; rest: Rest | undefined }> {
  const rows: RunRow[] = [];
  let page = await pages.next();
  for (; page.done !== true; page = await pages.next()) rows.push(...page.value);
  return { rows, rest: page.value };
}

// Below this many columns an age goes without its "ago".
const ROOMY = 80;

const COLUMNS: readonly Column[] = [
  { title: 'RUN', ids: true },
  { title: 'STATUS' },
  { title: 'NAME', min: 10 },
  { title: 'AGE' },
  { title: 'CREDITS', align: 'right' },
  { title: 'PROMPT VERSION', ids: true, dropOrder: 1 },
];

function shownCells(ctx: Context, row: RunRow): Cell[] {
  const age = ageOf(fieldText(row.createdAt), ctx.clock.now());
  return [
    fieldText(row.runId),
    runStatusCell(ctx, fieldText(row.runStatus)),
    fieldText(row.runName),
    ctx.io.stdout.columns < ROOMY ? age.replace(/ ago$/u, '') : age,
    row.credits === null ? 'free' : fieldText(row.credits),
    fieldText(row.promptVersionId),
  ];
}

/** Of a run for programs: id, status, time, credits (`-` if free), prompt version, name. */
function plainCells(ctx: Context, row: RunRow): Cell[] {
  return [
    fieldText(row.runId),
    runStatusCell(ctx, fieldText(row.runStatus)),
    fieldText(row.createdAt),
    row.credits === null ? '-' : fieldText(row.credits),
    fieldText(row.promptVersionId),
    fieldText(row.runName),
  ];
}
