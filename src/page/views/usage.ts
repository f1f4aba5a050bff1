import { chooseMeasure, type GroupUsage, getUsageKey, UsageTotal } from '../../client/usage.ts';
import type { RunRow } from '../../wire/index.ts';
import { formatCost, formatDollars, toMoney } from '../../wire/money.ts';
import {
  createFilterForm,
  createScrollingTable,
  createSelectBox,
  el,
  labelControl,
  toPlainOptions,
} from '../dom.ts';
import type { ViewContext } from '../view-context.ts';

const USAGE_PERIODS = [
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['365', 'last year'],
] as const;

const GROUPS = ['prompt', 'day', 'model', 'status'] as const;
type UsageGroup = (typeof GROUPS)[number];

const GROUP_TITLES = {
  prompt: 'Prompt',
  day: 'Day',
  model: 'Model',
  status: 'Status',
} as const satisfies Record<UsageGroup, string>;

const USAGE_COLUMNS = [
  { title: 'Credits', class: 'number' },
  { title: 'Cost', class: 'number' },
  { title: 'Runs', class: 'number' },
  { title: 'Failed', class: 'number wide' },
  { title: 'Tokens in', class: 'number wide' },
  { title: 'Tokens out', class: 'number wide' },
];

/** Shows the cost of the user's runs as bars. */
export async function showUsage({
  service,
  main,
  signal,
  handleErrors,
}: ViewContext): Promise<void> {
  const periodSelect = createSelectBox(USAGE_PERIODS, '30');
  const groupSelect = createSelectBox(toPlainOptions(GROUPS), 'prompt');
  const list = el('div');
  main.replaceChildren(
    createFilterForm(labelControl('Time', periodSelect), labelControl('By', groupSelect)),
    list,
  );

  const show = async (): Promise<void> => {
    const days = Number(periodSelect.value);
    const group = groupSelect.value as UsageGroup;
    const groupTotals = new Map<string, { readonly name: string; readonly total: UsageTotal }>();
    const since = Math.floor(Date.now() / 1000) - days * 86_400;
    for await (const row of service.runs.all({ since, usage: 'true' }, { signal })) {
      const { key, name } = await findGroup(service, group, row);
      const { total } = groupTotals.get(key) ?? { total: new UsageTotal() };
      total.add(row);
      groupTotals.set(key, { name, total });
    }

    const isStillChosen = Number(periodSelect.value) === days && groupSelect.value === group;
    const usage = [...groupTotals.values()].map(({ name, total }) => total.toGroupUsage(name));
    if (isStillChosen) list.replaceChildren(renderUsageTable(group, usage));
  };

  for (const control of [periodSelect, groupSelect]) {
    control.addEventListener('change', () => handleErrors(show(), list));
  }

  await show();
}

/** Returns the key and the name of the group that a run belongs to. */
async function findGroup(
  service: ViewContext['service'],
  group: UsageGroup,
  row: RunRow,
): Promise<{ readonly key: string; readonly name: string }> {
  if (group !== 'prompt') return { key: getUsageKey(row, group), name: getUsageKey(row, group) };
  const prompt = await service.getVersion(row.promptVersionId);
  const name = prompt?.title || row.runName || row.promptVersionId;
  return { key: prompt?.promptId ?? name, name };
}

function renderUsageTable(group: UsageGroup, rows: readonly GroupUsage[]): HTMLElement {
  if (rows.length === 0) return el('p', { class: 'quiet' }, 'No runs in this period.');

  const measure = chooseMeasure(rows);
  const largestValue = Math.max(...rows.map(row => row[measure] ?? 0));
  const compareNewestFirst = (one: GroupUsage, other: GroupUsage): number =>
    one.key < other.key ? 1 : -1;
  const compareMostFirst = (one: GroupUsage, other: GroupUsage): number =>
    (other[measure] ?? 0) - (one[measure] ?? 0) || compareNewestFirst(other, one);
  const cells = rows
    .toSorted(group === 'day' ? compareNewestFirst : compareMostFirst)
    .map(row => [
      el('div', {}, row.key, createUsageBar(row, measure, largestValue)),
      row.credits,
      formatCost(row.cost, { isEstimated: row.estimated }),
      row.runs,
      row.failed,
      row.tokens?.input ?? 0,
      row.tokens?.output ?? 0,
    ]);

  return createScrollingTable(
    'Usage',
    [{ title: GROUP_TITLES[group], class: 'bar' }, ...USAGE_COLUMNS],
    cells,
  );
}

/** Creates the bar of a group, relative to the largest one. */
function createUsageBar(
  row: GroupUsage,
  measure: ReturnType<typeof chooseMeasure>,
  largestValue: number,
): HTMLElement {
  const value = row[measure] ?? 0;
  const formatAmount = (amount: number): string =>
    measure === 'cost' ? formatDollars(toMoney(amount)) : `${amount}`;
  const unit = measure === 'cost' ? '' : ` ${measure}`;
  const label = `${row.key}: ${formatAmount(value)} of ${formatAmount(largestValue)}${unit}`;
  return el('meter', { min: 0, max: largestValue || 1, value, 'aria-label': label });
}
