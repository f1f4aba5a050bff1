import type { PromptSearchRow, RunRow } from '../../wire/index.ts';
import { choice, el, labelled, table } from '../dom.ts';
import type { Place } from '../place.ts';

const TIMES = [
  ['7', 'the last 7 days'],
  ['30', 'the last 30 days'],
  ['365', 'the last year'],
] as const;
const GROUPS = [
  ['prompt', 'prompt'],
  ['day', 'day'],
  ['status', 'status'],
] as const;

const COLUMNS = [
  { title: '' },
  { title: 'Credits', class: 'bar' },
  { title: 'Amount', class: 'number' },
  { title: 'Runs', class: 'number' },
  { title: 'Failed', class: 'number' },
];

interface Usage {
  runs: number;
  failed: number;
  credits: number;
}

/** What the caller's runs cost, as bars. */
export async function showUsage({ service, main, signal, guard }: Place): Promise<void> {
  const times = choice(TIMES, '30');
  const groups = choice(GROUPS, 'prompt');
  const list = el('div');
  const filters = [labelled('Time', times), labelled('By', groups)];
  main.replaceChildren(
    el('form', { class: 'filters', submit: event => event.preventDefault() }, ...filters),
    list,
  );

  const show = async (): Promise<void> => {
    const [days, group] = [Number(times.value), groups.value];
    const keyOf = keyed(group, await service.prompts());
    const usage = new Map<string, Usage>();
    const since = Math.floor(Date.now() / 1000) - days * 86_400;
    for await (const row of service.runs.all({ since }, { signal })) {
      const key = keyOf(row);
      const entry = usage.get(key) ?? { runs: 0, failed: 0, credits: 0 };
      entry.runs += 1;
      entry.failed += row.runStatus === 'failed' ? 1 : 0;
      entry.credits += row.credits ?? 0;
      usage.set(key, entry);
    }
    const isWanted = Number(times.value) === days && groups.value === group;
    if (isWanted) list.replaceChildren(usageTable(group, usage));
  };
  for (const control of [times, groups]) {
    control.addEventListener('change', () => guard(show(), list));
  }
  await show();
}

function keyed(group: string, prompts: readonly PromptSearchRow[]): (row: RunRow) => string {
  if (group === 'status') return ({ runStatus }) => runStatus;
  if (group === 'day') return ({ createdAt }) => new Date(createdAt).toLocaleDateString('sv');
  const titles = new Map(prompts.map(prompt => [prompt.promptVersionId, prompt.title || prompt.slug]));
  return ({ promptVersionId, runName }) => titles.get(promptVersionId) ?? (runName || promptVersionId);
}

function usageTable(group: string, usage: ReadonlyMap<string, Usage>): HTMLElement {
  const byKey = (a: string, b: string): number => (a < b ? 1 : -1);
  const rows = [...usage].sort(([a, one], [b, other]) =>
    group === 'day' ? byKey(a, b) : other.credits - one.credits || byKey(b, a),
  );
  if (rows.length === 0) return el('p', { class: 'quiet' }, 'No runs in this time.');
  const most = Math.max(1, ...rows.map(([, { credits }]) => credits));
  const cells = rows.map(([key, { runs, failed, credits }]) => [
    key,
    el('meter', { min: 0, max: most, value: credits, 'aria-label': `${key}: ${credits} of ${most} credits` }),
    credits,
    runs,
    failed,
  ]);
  const [, ...columns] = COLUMNS;
  return table('Usage', [{ title: group }, ...columns], cells);
}
