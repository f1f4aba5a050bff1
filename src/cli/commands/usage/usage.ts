import { chooseMeasure, type GroupUsage, getUsageKey, UsageTotal } from '../../../client/usage.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import type { RunRow } from '../../../wire/index.ts';
import { formatCost } from '../../../wire/money.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { type Period, parsePeriod } from '../../core/period.ts';
import { pluralize } from '../../core/pluralize.ts';
import { type ListColumn, presentList } from '../../outputs/present.ts';
import { createRowBuffer } from '../../outputs/present-pages.ts';
import type { KnownVersion } from '../../settings/caches/prompt-cache.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import type { USAGE } from './spec.ts';

type Grouping = 'prompt' | 'day' | 'model' | 'status';

export type UsageFlags = FlagsOf<typeof USAGE.flags>;

/** Shows the cost of runs in a period, by prompt, day, model or status. */
export async function printUsage(ctx: Context, flags: UsageFlags): Promise<void> {
  const period = parsePeriod({ ...flags, since: flags.since ?? '30d' }, ctx.clock.now());
  const connection = await ctx.connection();
  const { by = 'prompt' } = flags;
  if (by === 'model' && connection.costs === undefined) {
    throw usageError(
      "--by model works only on the embedded service: other services don't report the models of their runs",
      'Group by something else: --by prompt, --by day or --by status.',
    );
  }

  const groups = await withSpinner(
    ctx,
    'asking for the runs',
    groupRuns(ctx, connection, by, period),
  );

  const rows = [...groups].map(([key, total]) => total.toGroupUsage(key));
  const sortedRows = rows.toSorted(by === 'day' ? compareGroupKeys : compareByCost);
  await presentList(ctx, sortedRows, {
    columns: createUsageColumns(sortedRows, by),
    cells: formatPlainUsageCells,
    emptyText: 'no runs',
  });

  if (sortedRows.some(({ estimated }) => estimated)) {
    ctx.io.note(
      `note: some costs are estimates, based on prices of ${connection.costs?.tableDate ?? ''}`,
    );
  }

  const unpricedCount = [...groups.values()].reduce((runs, total) => runs + total.unpricedRuns, 0);
  if (unpricedCount > 0) {
    ctx.io.note(
      `note: the cost of ${pluralize(unpricedCount, 'run')} is unknown and not included: the model has no known price, or the answer was incomplete`,
    );
  }
}

async function groupRuns(
  ctx: Context,
  connection: Connection,
  grouping: Grouping,
  period: Period,
): Promise<Map<string, UsageTotal>> {
  const getGroupName =
    grouping === 'prompt'
      ? await createPromptNamer(ctx, connection)
      : (row: RunRow) => getUsageKey(row, grouping);

  const groups = new Map<string, UsageTotal>();
  // Limits the memory that groups may take.
  const keyBuffer = createRowBuffer<string>('runs');
  const query = { ...period, ...(connection.costs && { usage: 'true' as const }) };
  for await (const row of connection.client.runs.all(query, { signal: ctx.signal })) {
    const key = toTextOrEmpty(await getGroupName(row));
    const total = groups.get(key) ?? new UsageTotal();
    total.add(row);
    if (groups.has(key)) continue;
    keyBuffer.add([key]);
    groups.set(key, total);
  }

  return groups;
}

/**
 * Returns a function that names the prompt of a run: by its slug or title if known on this machine,
 * otherwise by the run's name.
 */
async function createPromptNamer(
  ctx: Context,
  { prompts, client, isEmbedded }: Connection,
): Promise<(row: RunRow) => Promise<string>> {
  const { signal } = ctx;
  const slugs = isEmbedded ? await fetchPublishedSlugs(client, signal) : prompts.getSlugs();
  const slugsByTitle = mapTitlesToSlugs(prompts.listVersions(), slugs);
  const namesByVersion = new Map<string, string>();
  // Limits the memory that names may take.
  const nameBuffer = createRowBuffer<string>('runs');

  return async ({ promptVersionId, runName }) => {
    const cachedName = namesByVersion.get(promptVersionId);
    if (cachedName !== undefined) return cachedName;

    let version = prompts.get(promptVersionId);

    // Other services would need a request per prompt.
    if (isEmbedded) {
      version ??= await client.versions.get(promptVersionId, { signal }).catch(() => undefined);
    }

    const slug = version && slugs.get(version.promptId);
    const title = version?.title ?? (runName || promptVersionId);
    const name = slug ?? slugsByTitle.get(title) ?? title;
    nameBuffer.add([promptVersionId, name]);
    namesByVersion.set(promptVersionId, name);

    return name;
  };
}

/**
 * Returns slugs by title, for titles that only one known prompt has. A run is named after the title
 * of its prompt, so that its slug is found even if this machine has never read the version.
 */
function mapTitlesToSlugs(
  versions: readonly KnownVersion[],
  slugs: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const promptIdsByTitle = new Map<string, Set<string>>();
  for (const { title, promptId } of versions) {
    promptIdsByTitle.set(title, (promptIdsByTitle.get(title) ?? new Set()).add(promptId));
  }

  const slugsByTitle = new Map<string, string>();
  for (const [title, [promptId = '', ...otherPromptIds]] of promptIdsByTitle) {
    const slug = slugs.get(promptId);
    if (slug !== undefined && otherPromptIds.length === 0) slugsByTitle.set(title, slug);
  }

  return slugsByTitle;
}

async function fetchPublishedSlugs(
  client: Connection['client'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const slugs = new Map<string, string>();
  for await (const { promptId, slug } of client.prompts.all({}, { signal })) {
    slugs.set(promptId, slug);
  }
  return slugs;
}

function compareGroupKeys(one: GroupUsage, other: GroupUsage): number {
  return one.key < other.key ? -1 : 1;
}

function compareByCost(one: GroupUsage, other: GroupUsage): number {
  return (
    (other.cost ?? 0) - (one.cost ?? 0) || other.credits - one.credits || other.runs - one.runs
  );
}

/**
 * Returns the cells for programs: key, runs, failed, credits, tokens in, out and cached, cost,
 * estimated or not.
 */
function formatPlainUsageCells({
  key,
  runs,
  failed,
  credits,
  tokens,
  cost,
  estimated,
}: GroupUsage): string[] {
  const counts = [tokens?.input, tokens?.output, tokens?.cached].map(count => String(count ?? '-'));
  return [
    key,
    ...[runs, failed, credits].map(String),
    ...counts,
    String(cost ?? '-'),
    String(estimated),
  ];
}

/** Width of the longest bar. With it, all figures fit into 80 columns. */
const USAGE_BAR_WIDTH = 10;

function createUsageColumns(
  rows: readonly GroupUsage[],
  grouping: Grouping,
): ListColumn<GroupUsage>[] {
  const measure = chooseMeasure(rows);
  const getWeight = (row: GroupUsage): number => row[measure] ?? 0;

  const largestWeight = rows.reduce((largest, row) => Math.max(largest, getWeight(row)), 0);
  const drawBar = (weight: number): string => {
    if (weight === 0) return '';
    const width = Math.round((weight / largestWeight) * USAGE_BAR_WIDTH);
    return '█'.repeat(Math.max(1, width));
  };

  return [
    { title: grouping[0]?.toUpperCase() + grouping.slice(1), minWidth: 8, cell: ({ key }) => key },
    { title: 'Runs', align: 'right', cell: ({ runs }) => String(runs) },
    { title: 'Failed', align: 'right', cell: ({ failed }) => String(failed) },
    { title: 'Credits', align: 'right', cell: ({ credits }) => String(credits) },
    {
      title: 'Tokens in',
      align: 'right',
      dropOrder: 1,
      cell: ({ tokens }) => String(tokens?.input ?? '–'),
    },
    {
      title: 'Tokens out',
      align: 'right',
      dropOrder: 0,
      cell: ({ tokens }) => String(tokens?.output ?? '–'),
    },
    {
      title: 'Cost',
      align: 'right',
      cell: ({ cost, estimated: isEstimated }) =>
        formatCost(cost, { isEstimated, unknownText: '–' }),
    },
    {
      title: '',
      dropOrder: 2,
      cell: row => drawBar(getWeight(row)),
    },
  ];
}
