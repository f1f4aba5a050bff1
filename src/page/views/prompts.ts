import type { PromptVersion } from '../../wire/index.ts';
import { el, facts, table, time } from '../dom.ts';
import type { Place } from '../service.ts';
import { runForm } from './run-form.ts';

const MODALITY_NAMES = ['text', 'image', 'video'];

const COLUMNS = [
  { title: 'Prompt' },
  { title: 'Makes' },
  { title: 'Credits', class: 'number' },
  { title: 'Published', class: 'wide' },
  { title: 'Description', class: 'wide' },
];

/** Every published prompt, newest first. */
export async function showPrompts({ service, main }: Place): Promise<void> {
  const rows = await service.prompts();
  const cells = rows.map(row => [
    el('a', { href: `#/prompts/${row.promptId}` }, row.title || row.slug),
    MODALITY_NAMES[row.modality] ?? '',
    row.estimatedCredits,
    time(row.publishedAt),
    row.description,
  ]);
  const none = el('p', { class: 'quiet' }, 'No prompts are published.');
  main.replaceChildren(rows.length === 0 ? none : table('Prompts', COLUMNS, cells));
}

/** One prompt, in its latest version or another one, with a form that runs it. */
export async function showPrompt(place: Place): Promise<void> {
  const { service, main, signal, path, entitle } = place;
  const [promptId = '', versionId] = path;
  const [rows, { versions }, models] = await Promise.all([
    service.prompts(),
    service.versions.list(promptId, { signal }),
    service.models(),
  ]);
  const row = rows.find(prompt => prompt.promptId === promptId);
  const shown = versions.find(version => version.promptVersionId === versionId) ?? versions[0];
  const version: PromptVersion & { template?: unknown } = await service.versions.get(
    shown?.promptVersionId ?? '',
    { signal },
  );
  const options = row === undefined ? [] : (models[row.model]?.availableRunOptions ?? []);
  const listed = versions.map(({ promptVersionId, publishedAt, isLatest }) =>
    el(
      'li',
      {},
      el(
        'a',
        {
          href: `#/prompts/${promptId}/${promptVersionId}`,
          'aria-current': promptVersionId === shown?.promptVersionId && 'true',
        },
        time(publishedAt),
      ),
      isLatest === true ? ' · the latest' : '',
    ),
  );
  entitle(version.title);
  main.replaceChildren(
    facts([
      ['About', row?.description],
      ['Name', row?.slug],
      ['Model', row && models[row.model]?.model],
      ['Version', el('code', {}, version.promptVersionId)],
    ]),
    el('h2', {}, 'Run it'),
    runForm(place, version, options),
    el('h2', {}, 'Versions'),
    el('ul', {}, ...listed),
    ...(typeof version.template === 'string'
      ? [el('h2', {}, 'Template'), el('pre', {}, version.template)]
      : []),
  );
}
