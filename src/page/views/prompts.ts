import { createWordMatcher } from '../../utils/word-matcher.ts';
import type { PromptSearchRow, PromptVersion, PromptVersionEntry } from '../../wire/index.ts';
import {
  createFactList,
  createFilterForm,
  createScrollingTable,
  createTimeElement,
  el,
  labelControl,
} from '../dom.ts';
import type { ViewContext } from '../view-context.ts';
import { createRunForm } from './run-form.ts';

const MODALITY_CHOICES = ['text', 'image', 'video'];

const PROMPT_COLUMNS = [
  { title: 'Prompt' },
  { title: 'Makes' },
  { title: 'Credits', class: 'number' },
  { title: 'Published', class: 'time wide' },
  { title: 'Description', class: 'words wide' },
];

/** Shows all published prompts, newest first. */
export async function showPrompts({ service, main }: ViewContext): Promise<void> {
  const rows = await service.listPrompts();
  if (rows.length === 0) {
    main.replaceChildren(
      el('p', { class: 'quiet' }, 'No prompts are published.'),
      renderHowToPublish(),
    );
    return;
  }

  const searchField = el('input', { type: 'search', name: 'words', autocomplete: 'off' });
  const list = el('div', { role: 'status' });
  const show = (): void => {
    const matchingRows = filterRows(rows, searchField.value);
    list.replaceChildren(
      matchingRows.length === 0
        ? el('p', { class: 'quiet' }, 'No prompt matches.')
        : renderPromptsTable(matchingRows),
    );
  };

  searchField.addEventListener('input', show);
  main.replaceChildren(
    createFilterForm(labelControl('Search', searchField)),
    list,
    renderHowToPublish(),
  );
  show();
}

/** Returns the prompts with every word in their title, slug or description. */
function filterRows(rows: readonly PromptSearchRow[], words: string): readonly PromptSearchRow[] {
  const hasWords = createWordMatcher(words);
  return rows.filter(({ title, slug, description }) =>
    hasWords(`${title}\n${slug}\n${description}`),
  );
}

function renderHowToPublish(): HTMLElement {
  return renderHowTo('How to publish a prompt', [
    formatLoginCommand(),
    'promptrun prompts new my-prompt.prompt',
    'promptrun prompts publish my-prompt.prompt',
  ]);
}

function renderHowToChange(slug: string, versionId: string): HTMLElement {
  return renderHowTo('How to publish a new version, or to label this one', [
    formatLoginCommand(),
    `promptrun prompts publish ${slug}.prompt`,
    `promptrun versions label ${slug} ${versionId.slice(0, 8)} production`,
  ]);
}

/** Shows commands for authors, because the page itself can't change prompts. */
function renderHowTo(summary: string, commands: readonly string[]): HTMLElement {
  return el(
    'details',
    {},
    el('summary', {}, summary),
    el('p', { class: 'quiet' }, "In a terminal, with an author's key:"),
    el('pre', {}, commands.join('\n')),
  );
}

function formatLoginCommand(): string {
  return `promptrun login --base-url ${new URL('.', location.href).href.replace(/\/$/u, '')}`;
}

function renderPromptsTable(rows: readonly PromptSearchRow[]): HTMLElement {
  const cells = rows.map(
    ({
      promptId,
      title,
      slug,
      labels = [],
      modality,
      estimatedCredits,
      publishedAt,
      description,
    }) => [
      el(
        'div',
        {},
        el('a', { href: `#/prompts/${promptId}` }, title || slug),
        el(
          'span',
          { class: 'quiet below' },
          [slug, ...labels.map(({ label }) => `@${label}`)].join(' '),
        ),
      ),
      MODALITY_CHOICES[modality] ?? '',
      estimatedCredits,
      createTimeElement(publishedAt),
      description,
    ],
  );
  return createScrollingTable('Prompts', PROMPT_COLUMNS, cells);
}

/** Shows a version of a prompt, by default the latest, with a form that runs it. */
export async function showPrompt(context: ViewContext): Promise<void> {
  const { service, main, signal, path, setTitle } = context;
  const [promptId = '', versionId, runId] = path;
  const [rows, { versions }, models, earlierRequest] = await Promise.all([
    service.listPrompts(),
    service.versions.list(promptId, { signal }),
    service.listModels(),
    runId === undefined ? undefined : service.runs.request(runId, { signal }),
  ]);
  const row = rows.find(prompt => prompt.promptId === promptId);

  // Versions that are older than the listed ones can be shown and run too.
  const shownVersionId = versionId ?? versions[0]?.promptVersionId ?? '';
  const version: PromptVersion & { template?: unknown } = await service.versions.get(
    shownVersionId,
    {
      signal,
    },
  );
  const options = row === undefined ? [] : (models[row.model]?.availableRunOptions ?? []);
  setTitle(version.title);
  main.replaceChildren(
    createFactList([
      ['About', row?.description],
      ['Name', row?.slug],
      ['Model', row && models[row.model]?.model],
      ['Version', el('code', {}, version.promptVersionId)],
    ]),
    el('h2', {}, 'Run it'),
    createRunForm(context, version, options, earlierRequest),
    el('h2', {}, 'Versions'),
    el('ul', {}, ...versions.map(entry => renderVersionItem(promptId, entry, shownVersionId))),
    ...(row === undefined ? [] : [renderHowToChange(row.slug, shownVersionId)]),
    ...(typeof version.template === 'string'
      ? [el('h2', {}, 'Template'), el('pre', {}, version.template)]
      : []),
  );
}

/** Creates the list item of a version, which is marked if it is the one that is shown. */
function renderVersionItem(
  promptId: string,
  { promptVersionId, publishedAt, isLatest, labels = [] }: PromptVersionEntry,
  shownVersionId: string,
): HTMLElement {
  const address = `#/prompts/${promptId}/${promptVersionId}`;
  return el(
    'li',
    {},
    el(
      'a',
      { href: address, 'aria-current': promptVersionId === shownVersionId && 'true' },
      createTimeElement(publishedAt),
    ),
    ' · ',
    el('code', { class: 'quiet' }, promptVersionId.slice(0, 8)),
    [isLatest === true ? ' · the latest' : '', ...labels.map(label => ` · @${label}`)].join(''),
  );
}
