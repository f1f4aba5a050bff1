import type { RunRow } from '../../wire/index.ts';
import { formatDollars, money } from '../../wire/money.ts';
import { choice, costText, el, filters, labelled, same, table } from '../dom.ts';
import type { Place } from '../place.ts';

const TIMES = [
  ['7', 'the last 7 days'],
  ['30', 'the last 30 days'],
  ['365', 'the last year'],
] as const;
const GROUPS = ['prompt', 'day', 'model', 'status'] as const;
type Grouping = (typeof GROUPS)[number];

const COLUMNS = [
  { title: '', class: 'bar' },
  { title: 'Credits', class: 'number' },
  { title: 'Cost', class: 'number' },
  { title: 'Runs', class: 'number' },
  { title: 'Failed', class: 'number' },
  { title: 'Tokens in', class: 'number wide' },
  { title: 'Tokens out', class: 'number wide' },
];

/** What the runs of a group took. */
interface Usage {
  readonly name: string;
  runs: number;
  failed: number;
  credits: number;
  input: number;
  output: number;
  /** In US dollars; null if it is not known of any run. */
  cost: number | null;
  estimated: boolean;
}

/** What the caller's runs cost, as bars. */
export async function showUsage({ service, main, signal, guard }: Place): Promise<void> {
  const times = choice(TIMES, '30');
  const groups = choice(same(GROUPS), 'prompt');
  const list = el('div');
  main.replaceChildren(filters(labelled('Time', times), labelled('By', groups)), list);

  const show = async (): Promise<void> => {
    const [days, group] = [Number(times.value), groups.value as Grouping];
    const usage = new Map<string, Usage>();
    const since = Math.floor(Date.now() / 1000) - days * 86_400;
    for await (const row of service.runs.all({ since, usage: 'true' }, { signal })) {
      const { key, name } = await groupOf(service, group, row);
      usage.set(key, added(row, usage.get(key) ?? { ...NOTHING, name }));
    }
    const isWanted = Number(times.value) === days && groups.value === group;
    if (isWanted) list.replaceChildren(usageTable(group, [...usage.values()]));
  };
  for (const control of [times, groups]) {
    control.addEventListener('change', () => guard(show(), list));
  }
  await show();
}

const NOTHING = { runs: 0, failed: 0, credits: 0, input: 0, output: 0, cost: null, estimated: false };

function added({ runStatus, credits, usage }: RunRow, sum: Usage): Usage {
  return {
    name: sum.name,
    runs: sum.runs + 1,
    failed: sum.failed + (runStatus === 'failed' ? 1 : 0),
    credits: sum.credits + (credits ?? 0),
    input: sum.input + (usage?.tokens?.input ?? 0),
    output: sum.output + (usage?.tokens?.output ?? 0),
    cost: typeof usage?.cost === 'number' ? (sum.cost ?? 0) + usage.cost : sum.cost,
    estimated: sum.estimated || usage?.estimated === true,
  };
}

/** What a run is counted under, and what that is called. */
async function groupOf(
  service: Place['service'],
  group: Grouping,
  { promptVersionId, runName, runStatus, createdAt, usage }: RunRow,
): Promise<{ readonly key: string; readonly name: string }> {
  if (group === 'prompt') {
    const prompt = await service.promptOf(promptVersionId);
    const name = prompt?.title || runName || promptVersionId;
    return { key: prompt?.promptId ?? name, name };
  }
  const day = (): string => new Date(createdAt).toLocaleDateString('sv');
  const name = group === 'status' ? runStatus : group === 'day' ? day() : (usage?.model ?? 'unknown');
  return { key: name, name };
}

function usageTable(group: Grouping, rows: readonly Usage[]): HTMLElement {
  if (rows.length === 0) return el('p', { class: 'quiet' }, 'No runs in this time.');
  const { weight, compared } = weightOf(rows);
  const most = Math.max(...rows.map(weight));
  const newestFirst = (one: Usage, other: Usage): number => (one.name < other.name ? 1 : -1);
  const mostFirst = (one: Usage, other: Usage): number =>
    weight(other) - weight(one) || newestFirst(other, one);
  const cells = rows.toSorted(group === 'day' ? newestFirst : mostFirst).map(row => [
    row.name,
    el('meter', {
      min: 0,
      max: most || 1,
      value: weight(row),
      'aria-label': `${row.name}: ${compared(weight(row), most)}`,
    }),
    row.credits,
    costText(row),
    row.runs,
    row.failed,
    row.input,
    row.output,
  ]);
  return table('Usage', [{ title: group }, ...COLUMNS], cells);
}

interface Weight {
  weight(row: Usage): number;
  compared(part: number, most: number): string;
}

/** What bars are drawn of: money if any was spent, else credits, else runs. */
function weightOf(rows: readonly Usage[]): Weight {
  const inDollars = (amount: number): string => formatDollars(money(amount));
  if (rows.some(({ cost }) => (cost ?? 0) > 0)) {
    return {
      weight: ({ cost }) => cost ?? 0,
      compared: (part, most) => `${inDollars(part)} of ${inDollars(most)}`,
    };
  }
  const unit = rows.some(({ credits }) => credits > 0) ? 'credits' : 'runs';
  return { weight: row => row[unit], compared: (part, most) => `${part} of ${most} ${unit}` };
}
