import type { RunRow } from '../../../wire/index.ts';
import { dollars, formatDollars, money } from '../../../wire/money.ts';
import type { Connection, Context } from '../../context.ts';
import { creditsIn, inCredits } from '../../creation/caps.ts';
import { usageError } from '../../errors.ts';
import { parseTime } from '../../inputs/time.ts';
import { type ListColumn, presentList } from '../../outputs/present.ts';
import { withSpinner } from '../../terminal/spinner.ts';

type Grouping = 'prompt' | 'day' | 'model' | 'status';

export interface UsageFlags {
  readonly since?: string;
  readonly until?: string;
  readonly by?: Grouping;
}

/** What the runs of a group took. */
interface UsageRow {
  readonly key: string;
  readonly runs: number;
  readonly failed: number;
  readonly credits: number;
  /** As the providers count them; null of another service than this machine's own. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number } | null;
  /** In US dollars, as far as it is known. */
  readonly cost: number | null;
  /** Whether some of the cost comes from the kept table of prices. */
  readonly estimated: boolean;
}

/** Shows what the runs of a time cost, by prompt, day, model or status. */
export async function usage(ctx: Context, flags: UsageFlags): Promise<void> {
  const now = ctx.clock.now();
  const since = parseTime(flags.since ?? '30d', '--since', now, 'down');
  const until = flags.until === undefined ? undefined : parseTime(flags.until, '--until', now, 'up');
  if (until !== undefined && since >= until) throw usageError('--since must be earlier than --until');
  const connection = await ctx.connection();
  const { by = 'prompt' } = flags;
  if (by === 'model' && connection.costs === undefined) {
    throw usageError(
      "--by model is for this machine's own service: another one does not tell the models of its runs",
      'Group by something else: --by prompt, --by day or --by status.',
    );
  }
  const time = { since, ...(until !== undefined && { until }) };
  const groups = await withSpinner(ctx, 'asking for the runs', groupedRuns(ctx, connection, by, time));
  const rows = [...groups].map(([key, runs]) => usageRow(key, runs));
  const sorted = rows.toSorted(by === 'day' ? byKey : mostFirst);
  await presentList(ctx, sorted, { columns: columnsFor(sorted, by), cells: plainCells, nothing: 'no runs' });
  if (sorted.some(({ estimated }) => estimated)) {
    ctx.io.note(`note: some costs are estimated, by prices of ${connection.costs?.tableDate ?? ''}`);
  }
}

async function groupedRuns(
  ctx: Context,
  connection: Connection,
  by: Grouping,
  time: { readonly since: number; readonly until?: number },
): Promise<Map<string, RunRow[]>> {
  const nameOf = by === 'prompt' ? await promptNames(ctx, connection) : (row: RunRow) => keyOf(row, by);
  const groups = new Map<string, RunRow[]>();
  const query = { ...time, ...(connection.costs && { usage: 'true' as const }) };
  for await (const row of connection.client.runs.all(query, { signal: ctx.signal })) {
    const key = await nameOf(row);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

function keyOf({ runStatus, usage, createdAt }: RunRow, by: Exclude<Grouping, 'prompt'>): string {
  if (by === 'status') return runStatus;
  return by === 'model' ? (usage?.model ?? 'unknown') : localDay(createdAt);
}

/** Names prompts as people know them: by slug, else by title, as far as they are known here, else by what their runs are called. */
async function promptNames(
  ctx: Context,
  { prompts, client, embedded }: Connection,
): Promise<(row: RunRow) => Promise<string>> {
  const { signal } = ctx;
  const slugs = embedded ? await publishedSlugs(client, signal) : prompts.slugs();
  const names = new Map<string, string>();
  return async ({ promptVersionId, runName }) => {
    const known = names.get(promptVersionId);
    if (known !== undefined) return known;
    // Only this machine's own service can be asked without a request for each.
    const version =
      prompts.get(promptVersionId) ??
      (embedded ? await client.versions.get(promptVersionId, { signal }).catch(() => undefined) : undefined);
    const slug = version && slugs.get(version.promptId);
    const name = slug ?? version?.title ?? (runName || promptVersionId);
    names.set(promptVersionId, name);
    return name;
  };
}

async function publishedSlugs(
  client: Connection['client'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const slugs = new Map<string, string>();
  for await (const { promptId, slug } of client.prompts.all({}, { signal })) slugs.set(promptId, slug);
  return slugs;
}

/** The day of the user's clock, as 2026-11-20. */
function localDay(iso: string): string {
  const time = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

function usageRow(key: string, runs: readonly RunRow[]): UsageRow {
  const counted = runs.flatMap(({ usage }) => usage?.tokens ?? []);
  const costs = runs.flatMap(({ usage }) => usage?.cost ?? []).map(money);
  const tokens = (field: 'input' | 'output' | 'cached'): number => sum(counted.map(one => one[field]));
  return {
    key,
    runs: runs.length,
    failed: runs.filter(({ runStatus }) => runStatus === 'failed').length,
    credits: inCredits(sum(runs.map(({ credits }) => creditsIn(credits) ?? 0))),
    tokens:
      counted.length === 0
        ? null
        : { input: tokens('input'), output: tokens('output'), cached: tokens('cached') },
    cost: costs.length === 0 ? null : dollars(sum(costs)),
    estimated: runs.some(({ usage }) => usage?.estimated === true),
  };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

function byKey(one: UsageRow, other: UsageRow): number {
  return one.key < other.key ? -1 : 1;
}

function mostFirst(one: UsageRow, other: UsageRow): number {
  return (other.cost ?? 0) - (one.cost ?? 0) || other.credits - one.credits || other.runs - one.runs;
}

/** Key, runs, failed, credits, tokens in, out and cached, cost, and whether it is estimated. */
function plainCells({ key, runs, failed, credits, tokens, cost, estimated }: UsageRow): string[] {
  const counts = [tokens?.input, tokens?.output, tokens?.cached].map(count => String(count ?? '-'));
  return [key, ...[runs, failed, credits].map(String), ...counts, String(cost ?? '-'), String(estimated)];
}

const BAR_WIDTH = 20;

function columnsFor(rows: readonly UsageRow[], by: Grouping): ListColumn<UsageRow>[] {
  const weight = weightOf(rows);
  const most = Math.max(...rows.map(weight));
  const bar = (part: number): string =>
    '█'.repeat(part === 0 ? 0 : Math.max(1, Math.round(part * BAR_WIDTH)));
  return [
    { title: by[0]?.toUpperCase() + by.slice(1), min: 8, cell: ({ key }) => key },
    { title: 'Runs', align: 'right', cell: ({ runs }) => String(runs) },
    { title: 'Failed', align: 'right', cell: ({ failed }) => String(failed) },
    { title: 'Credits', align: 'right', cell: ({ credits }) => String(credits) },
    { title: 'Tokens in', align: 'right', dropOrder: 2, cell: ({ tokens }) => String(tokens?.input ?? '–') },
    {
      title: 'Tokens out',
      align: 'right',
      dropOrder: 1,
      cell: ({ tokens }) => String(tokens?.output ?? '–'),
    },
    { title: 'Cost', align: 'right', cell: costText },
    { title: '', dropOrder: 0, cell: row => bar(weight(row) && weight(row) / most) },
  ];
}

function costText({ cost, estimated }: UsageRow): string {
  return cost === null ? '–' : `${estimated ? '~' : ''}${formatDollars(money(cost))}`;
}

/** What bars are drawn of: money if any is known, else credits, else runs. */
function weightOf(rows: readonly UsageRow[]): (row: UsageRow) => number {
  if (rows.some(({ cost }) => (cost ?? 0) > 0)) return ({ cost }) => cost ?? 0;
  return rows.some(({ credits }) => credits > 0) ? ({ credits }) => credits : ({ runs }) => runs;
}
