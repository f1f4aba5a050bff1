import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { MODALITIES, type Model } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { notFoundError } from '../../core/errors.ts';
import { pluralize } from '../../core/pluralize.ts';
import { requireOneOf } from '../../core/unknown-name.ts';
import { type ListForm, present, presentFacts, presentList } from '../../outputs/present.ts';
import { pickWellFormedModels, readCachedResources } from '../../settings/caches/resource-cache.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { formatPlainRows } from '../../terminal/table.ts';
import type { RESOURCES_LIST } from './spec.ts';

export type ResourcesListFlags = FlagsOf<typeof RESOURCES_LIST.flags>;

/** Lists the models and their run options. */
export async function printModels(ctx: Context, flags: ResourcesListFlags): Promise<void> {
  if (flags.modality !== undefined) requireOneOf('modality', flags.modality, MODALITIES);
  const chosenModels = (await readOrFetchModels(ctx, flags)).filter(model =>
    matchesFlags(model, flags),
  );
  const listForm: ListForm<Model> = {
    columns: [
      { title: 'MODEL', minWidth: 12, cell: ({ model }) => model },
      { title: 'MODALITY', cell: ({ modality }) => toTextOrEmpty(modality) },
      { title: 'RUN OPTIONS', minWidth: 16, cell: formatRunOptionsCell },
    ],
    emptyText: 'no models',
  };
  await presentList(ctx, pickWellFormedModels(chosenModels), listForm, chosenModels);
}

async function readOrFetchModels(
  ctx: Context,
  { cached }: ResourcesListFlags,
): Promise<readonly unknown[]> {
  if (cached !== true) {
    const { resources } = await ctx.connection();
    const answer = await withSpinner(
      ctx,
      'asking for the models',
      resources.refresh({ signal: ctx.signal }),
    );
    return answer.resources.models;
  }

  const { entry } = await readCachedResources(ctx);
  if (entry !== undefined) return entry.models;
  throw notFoundError(
    'no models are cached for this service and key',
    `Fetch them with: ${ctx.formatCommand('resources', 'refresh')}`,
  );
}

function matchesFlags(model: unknown, { modality, model: name }: ResourcesListFlags): boolean {
  const row = (model ?? {}) as Partial<Model>;
  const matchesModality = modality === undefined || row.modality === modality;
  return matchesModality && (name === undefined || row.model === name);
}

function formatRunOptionsCell({ availableRunOptions }: Model): string {
  return availableRunOptions.map(({ key, options }) => `${key}=${options.join(',')}`).join(' ');
}

/** Shows the hash, age and file of the cached models. Sends no request. */
export async function printModelCacheStatus(ctx: Context): Promise<void> {
  const { file, service, entry } = await readCachedResources(ctx);
  const status = {
    service,
    hash: entry?.hash ?? null,
    fetchedAt: entry?.fetchedAt ?? null,
    models: entry?.models.length ?? 0,
    file,
  };
  await presentFacts(ctx, status, [
    ['Service', service],
    ['Hash', entry?.hash ?? 'none cached'],
    [
      'Models',
      entry && `${entry.models.length}, fetched ${formatIsoAge(entry.fetchedAt, ctx.clock.now())}`,
    ],
    ['File', file],
  ]);
}

/** Fetches the models and caches them. */
export async function refreshModels(ctx: Context): Promise<void> {
  const { resources } = await ctx.connection();
  const answer = await resources.refresh({ signal: ctx.signal });
  const count = answer.resources.models.length;
  await present(ctx, answer, {
    terminal: () => `${pluralize(count, 'model')} cached, hash ${toOneLine(answer.hash)}\n`,
    plain: () => formatPlainRows([[answer.hash, String(count)]]),
  });
  if (!resources.isPersisted) ctx.io.note('The cache could not be written; see --debug.');
}
