import {
  isOver,
  RUN_STATUSES,
  type RunListQuery,
  type RunRow,
  type RunStatus,
} from '../../wire/index.ts';
import {
  createFilterForm,
  createScrollingTable,
  createSelectBox,
  createTimeElement,
  el,
  labelControl,
  toPlainOptions,
} from '../dom.ts';
import {
  createStatusElement,
  formatFirstWords,
  formatRunCredits,
  formatRunDuration,
  isCancelled,
} from '../run-facts.ts';
import type { ViewContext } from '../view-context.ts';

/** Number of rows that are added at a time. */
const PAGE_SIZE = 50;

const RUN_PERIODS = [
  ['', 'any time'],
  ['3600', 'the last hour'],
  ['86400', 'the last day'],
  ['604800', 'the last 7 days'],
  ['2592000', 'the last 30 days'],
] as const;

const LISTED_RUN_COLUMNS = [
  { title: 'Run', class: 'words' },
  { title: 'Status' },
  { title: 'Created', class: 'time' },
  { title: 'Took', class: 'time wide' },
  { title: 'Credits', class: 'number wide' },
];

/** Shows the user's runs, newest first, with filters for status, prompt and time. */
export async function showRuns({
  service,
  main,
  signal,
  handleErrors,
}: ViewContext): Promise<void> {
  const prompts = await service.listPrompts();
  const statusSelect = createSelectBox([['', 'any'], ...toPlainOptions(RUN_STATUSES)], '');
  const promptSelect = createSelectBox(
    [['', 'any'], ...prompts.map(row => [row.promptId, row.title || row.slug] as const)],
    '',
  );
  const periodSelect = createSelectBox(RUN_PERIODS, '');
  const controls = [
    labelControl('Status', statusSelect),
    labelControl('Prompt', promptSelect),
    labelControl('Created in', periodSelect),
  ];

  const list = new RunList();
  main.replaceChildren(createFilterForm(...controls), list.element, list.moreButton);

  const showFiltered = (): Promise<void> => {
    const promptId = promptSelect.value;
    const isWanted = async ({ promptVersionId }: RunRow): Promise<boolean> =>
      promptId === '' || (await service.getVersion(promptVersionId))?.promptId === promptId;
    const query = buildRunQuery(statusSelect.value, periodSelect.value);
    return list.show(startingAfter => {
      const pageQuery = startingAfter === undefined ? query : { ...query, startingAfter };
      return fetchFilteredPages({ service, signal }, pageQuery, isWanted);
    });
  };

  for (const filter of [statusSelect, promptSelect, periodSelect]) {
    filter.addEventListener('change', () => handleErrors(showFiltered(), list.element));
  }

  list.moreButton.addEventListener('click', () => handleErrors(list.showMore(), list.element));
  await showFiltered();
}

/** Returns the query for the values of the select boxes, which are empty for any. */
function buildRunQuery(status: string, periodSeconds: string): RunListQuery {
  return {
    times: 'true',
    ...(status !== '' && { status: status as RunStatus }),
    ...(periodSeconds !== '' && { since: Math.floor(Date.now() / 1000) - Number(periodSeconds) }),
  };
}

type RunPages = AsyncGenerator<readonly RunRow[], undefined>;

/** Returns the pages of a query, from its first run or after the run with this id. */
type FetchRunPages = (startingAfter?: string) => RunPages;

/** The rows that have been loaded, and a button that loads more. */
class RunList {
  readonly element = el('div');
  readonly moreButton = el('button', { type: 'button' }, 'More');
  #fetchPages: FetchRunPages | undefined;
  #pages: RunPages | undefined;
  #rows: RunRow[] = [];

  /** Shows the first page of a new query. */
  show(fetchPages: FetchRunPages): Promise<void> {
    this.#rows = [];
    this.#fetchPages = fetchPages;
    this.#pages = undefined;
    return this.showMore();
  }

  /** Adds the next page. After a failure, the next call tries the same page again. */
  async showMore(): Promise<void> {
    this.moreButton.disabled = true;
    const fetchPages = this.#fetchPages;
    const hasNewQuery = (): boolean => fetchPages !== this.#fetchPages;
    try {
      this.#pages ??= fetchPages?.(this.#rows.at(-1)?.runId);
      const page = (await this.#pages?.next())?.value ?? [];
      if (hasNewQuery()) return;

      this.#rows.push(...page);
      this.moreButton.hidden = page.length < PAGE_SIZE;
    } catch (error) {
      if (hasNewQuery()) return;
      // A generator that has thrown yields nothing more.
      this.#pages = undefined;
      this.moreButton.hidden = false;
      throw error;
    } finally {
      if (!hasNewQuery()) this.moreButton.disabled = false;
    }

    this.element.replaceChildren(
      this.#rows.length === 0 ? createEmptyNote() : renderRunsTable(this.#rows),
    );
  }
}

function createEmptyNote(): HTMLElement {
  return el(
    'p',
    { class: 'quiet' },
    'No runs. ',
    el('a', { href: '#/prompts' }, 'Choose a prompt to run'),
  );
}

async function* fetchFilteredPages(
  { service, signal }: Pick<ViewContext, 'service' | 'signal'>,
  query: RunListQuery,
  isWanted: (row: RunRow) => Promise<boolean>,
): RunPages {
  let page: RunRow[] = [];
  for await (const row of service.runs.all(query, { signal })) {
    if (await isWanted(row)) page.push(row);
    if (page.length < PAGE_SIZE) continue;
    yield page;
    page = [];
  }

  yield page;
  return undefined;
}

function renderRunsTable(rows: readonly RunRow[]): HTMLElement {
  return createScrollingTable(
    'Runs',
    LISTED_RUN_COLUMNS,
    rows.map(row => {
      const { runId, runName, runStatus, outputs, createdAt, credits } = row;
      return [
        el(
          'div',
          {},
          el('a', { href: `#/runs/${runId}` }, runName || runId),
          el('span', { class: 'below' }, isCancelled(row) ? '' : formatFirstWords(outputs)),
          el('code', { class: 'quiet' }, runId.slice(0, 8)),
        ),
        createStatusElement(row),
        createTimeElement(createdAt),
        formatRunDuration(row, { isOver: isOver({ runStatus }) }),
        formatRunCredits(credits),
      ];
    }),
  );
}
