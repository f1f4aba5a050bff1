import type { PromptService } from '../../../client/client.ts';
import { withoutUndefined } from '../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import {
  DEFAULT_LIST_LIMIT,
  isOver,
  isUuid,
  RUN_STATUSES,
  type RunListQuery,
  type RunRow,
} from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import type { FormatCommand } from '../../core/failure.ts';
import { parsePeriod } from '../../core/period.ts';
import { requireOneOf } from '../../core/unknown-name.ts';
import type { ListColumn } from '../../outputs/present.ts';
import { createRowBuffer, type Pages, presentPages } from '../../outputs/present-pages.ts';
import { formatRunStatus } from '../../outputs/run-status.ts';
import { requestAboutPrompt, resolvePrompt } from '../../targets/prompt-name.ts';
import { detectShell, quoteIfNeeded } from '../../terminal/shell-words.ts';
import type { Cell } from '../../terminal/table.ts';
import type { RUNS_LIST } from './spec.ts';

export type RunsListFlags = FlagsOf<typeof RUNS_LIST.flags>;

/** Lists your runs, newest first. */
export async function printRunList(ctx: Context, flags: RunsListFlags): Promise<void> {
  const request = readListRequest(ctx, flags);
  const connection = await ctx.connection();

  const promptVersions =
    flags.prompt === undefined ? undefined : await findVersions(ctx, connection, flags.prompt);
  const showsCost = connection.costs !== undefined && ctx.io.stdout.isTerminal && !ctx.globals.json;
  const query = showsCost ? { ...request.query, usage: 'true' as const } : request.query;
  const pages = fetchRunPages(
    connection.client.runs,
    { ...request, query, promptVersions },
    ctx.signal,
  );

  const remainingRuns = await presentPages(ctx, pages, {
    noun: 'runs',
    ndjson: flags.ndjson,
    columns: createRunColumns(ctx),
    cells: row => formatPlainRunCells(ctx, row),
    emptyText: 'no runs',
  });
  if (remainingRuns !== undefined) {
    ctx.io.note(
      `more runs: ${remainingRuns.flag} ${quoteIfNeeded(remainingRuns.cursor, detectShell(ctx.env))}`,
    );
  }
}

interface RunsListRequest {
  /** The number of runs; Infinity for all. */
  readonly limit: number;
  /** The query, without the page's limit. */
  readonly query: Omit<RunListQuery, 'limit'>;
}

/** Checks the flags as the service would. @throws {CliError} USAGE_ERROR naming the flag */
function readListRequest({ clock, formatCommand }: Context, flags: RunsListFlags): RunsListRequest {
  const limit = readLimit(flags);

  if (flags.startingAfter !== undefined && flags.endingBefore !== undefined) {
    throw usageError(
      "--starting-after and --ending-before can't be used together",
      'Give one of the two.',
    );
  }

  const query = {
    startingAfter: requireRunId(flags.startingAfter, '--starting-after', formatCommand),
    endingBefore: requireRunId(flags.endingBefore, '--ending-before', formatCommand),
    status:
      flags.status === undefined ? undefined : requireOneOf('status', flags.status, RUN_STATUSES),
    ...parsePeriod(flags, clock.now()),
  };
  return { limit, query: withoutUndefined(query) };
}

function readLimit({ limit, all }: RunsListFlags): number {
  if (limit === undefined) return all === true ? Number.POSITIVE_INFINITY : DEFAULT_LIST_LIMIT;

  if (all === true) {
    throw usageError("--all and --limit can't be used together", 'Give one of the two.');
  }

  if (!/^\d{1,15}$/u.test(limit) || Number(limit) < 1) {
    throw usageError(`--limit: ${JSON.stringify(limit)} is not a whole number of 1 or more`);
  }

  return Number(limit);
}

function requireRunId(
  cursor: string | undefined,
  flag: string,
  formatCommand: FormatCommand,
): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor;
  throw usageError(
    `${flag}: ${JSON.stringify(cursor)} is not a run id`,
    `A run id is a UUID, as in: ${formatCommand('runs', 'list')}`,
  );
}

/** The flag and the run id with which a limited list continues. */
interface RemainingRuns {
  readonly flag: '--starting-after' | '--ending-before';
  readonly cursor: string;
}

/**
 * Yields the pages of a request, fetched on demand. Going back, each page is newer than the one
 * before, so all are fetched before any is yielded.
 *
 * @param promptVersions keeps only rows of these; the service has no such filter
 * @returns the position at which the list continues; undefined if it is complete
 */
async function* fetchRunPages(
  runs: PromptService['runs'],
  {
    limit,
    query,
    promptVersions,
  }: RunsListRequest & { readonly promptVersions: ReadonlySet<string> | undefined },
  signal: AbortSignal,
): Pages<RunRow, RemainingRuns | undefined> {
  const goesBack = query.endingBefore !== undefined;
  const flag = goesBack ? '--ending-before' : '--starting-after';
  const isLimited = Number.isFinite(limit) && promptVersions === undefined;
  const newerPages = createRowBuffer<readonly RunRow[]>('runs', '--ending-before');

  let remainingLimit = limit;
  let remainingRuns: RemainingRuns | undefined;
  for await (const { rows, hasMore } of runs.pages(
    { ...query, ...(isLimited && { limit }) },
    { signal },
  )) {
    const matchingRows = rows.filter(row => promptVersions?.has(row.promptVersionId) ?? true);
    const startIndex = goesBack ? Math.max(0, matchingRows.length - remainingLimit) : 0;
    const pageRows = matchingRows.slice(startIndex, startIndex + remainingLimit);
    remainingLimit -= pageRows.length;

    const edgeRow = goesBack ? pageRows[0] : pageRows.at(-1);
    remainingRuns =
      edgeRow !== undefined && (hasMore || pageRows.length < matchingRows.length)
        ? { flag, cursor: edgeRow.runId }
        : undefined;

    if (goesBack) {
      newerPages.add([pageRows]);
    } else {
      yield pageRows;
    }

    if (remainingLimit === 0) break;
  }

  if (goesBack) yield newerPages.rows.toReversed().flat();
  return remainingRuns;
}

/**
 * Returns all versions of a prompt, or the one that the name refers to.
 *
 * @throws {CliError} exit 4 if the prompt doesn't exist
 */
async function findVersions(
  ctx: Context,
  connection: Connection,
  name: string,
): Promise<ReadonlySet<string>> {
  const namedPrompt = await resolvePrompt(ctx, connection, name);
  const { signal } = ctx;
  return requestAboutPrompt(
    connection,
    namedPrompt,
    signal,
    async ({ promptId, promptVersionId }) => {
      if (promptVersionId !== undefined) return new Set([promptVersionId]);
      const { versions } = await connection.client.versions.list(promptId, { signal });
      return new Set(versions.map(version => version.promptVersionId));
    },
  );
}

/** Minimum number of columns of a terminal that shows ages with "ago". */
const MIN_COLUMNS_FOR_AGO = 80;

function createRunColumns(ctx: Context): ListColumn<RunRow>[] {
  const formatRowAge = (row: RunRow): string =>
    formatIsoAge(toTextOrEmpty(row.createdAt), ctx.clock.now());
  const isNarrow = ctx.io.stdout.columns < MIN_COLUMNS_FOR_AGO;
  return [
    { title: 'RUN', hasIds: true, cell: row => toTextOrEmpty(row.runId) },
    { title: 'STATUS', cell: row => formatRunStatus(ctx, toTextOrEmpty(row.runStatus)) },
    { title: 'NAME', minWidth: 10, cell: row => toTextOrEmpty(row.runName) },
    {
      title: 'AGE',
      cell: row => (isNarrow ? formatRowAge(row).replace(/ ago$/u, '') : formatRowAge(row)),
    },
    { title: 'CREDITS', align: 'right', cell: formatCreditsCell },
    {
      title: 'PROMPT VERSION',
      hasIds: true,
      dropOrder: 1,
      cell: row => toTextOrEmpty(row.promptVersionId),
    },
  ];
}

/**
 * Returns the credits of a run; nothing if they are unknown, because the run has not ended or was
 * stopped.
 */
function formatCreditsCell({ credits, runStatus, usage }: RunRow): string {
  if (credits !== null) return toTextOrEmpty(credits);
  const isKnown = isOver({ runStatus }) && (usage === undefined || usage.cost === 0);
  return isKnown ? 'free' : '';
}

/**
 * Returns the cells of a run for programs: id, status, time, credits (`-` if free), prompt version,
 * name.
 */
function formatPlainRunCells(ctx: Context, row: RunRow): Cell[] {
  return [
    toTextOrEmpty(row.runId),
    formatRunStatus(ctx, toTextOrEmpty(row.runStatus)),
    toTextOrEmpty(row.createdAt),
    row.credits === null ? '-' : toTextOrEmpty(row.credits),
    toTextOrEmpty(row.promptVersionId),
    toTextOrEmpty(row.runName),
  ];
}
