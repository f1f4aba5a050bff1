import { MODALITIES, type Model } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { fieldText } from '../../core/json-value.ts';
import { unknownName } from '../../core/nearest.ts';
import { ageOf } from '../../core/time.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { present } from '../../outputs/present.ts';
import { cachedResources, wellFormedModels } from '../../settings/caches/resource-entries.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

export interface ResourcesListOptions {
  readonly modality?: string;
  readonly model?: string;
  /** Shows what is cached and sends nothing. */
  readonly cached?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'MODEL', min: 12 },
  { title: 'MODALITY' },
  { title: 'RUN OPTIONS', min: 16 },
];

/** Lists the models and the run options each accepts. */
export async function resourcesList(ctx: Context, options: ResourcesListOptions): Promise<void> {
  checkModality(options.modality);
  const chosen = (await modelsOf(ctx, options)).filter(model => isChosen(model, options));
  const rows = wellFormedModels(chosen).map(modelCells);
  await present(ctx, chosen, {
    terminal: () => (rows.length === 0 ? 'no models\n' : terminalTable(ctx.io, COLUMNS, rows)),
    plain: () => plainRows(rows),
    paged: true,
  });
}

async function modelsOf(ctx: Context, { cached }: ResourcesListOptions): Promise<readonly unknown[]> {
  if (cached !== true) {
    const { resources } = await ctx.connection();
    const answer = await withSpinner(ctx, 'asking for the models', resources.refresh({ signal: ctx.signal }));
    return answer.resources.models;
  }
  const { cached: entry } = await cachedResources(ctx);
  if (entry !== undefined) return entry.models;
  throw notFoundError(
    'no models are cached for this service and key',
    'promptrun resources refresh fetches them',
  );
}

function isChosen(model: unknown, { modality, model: name }: ResourcesListOptions): boolean {
  const { model: itsName, modality: its } = (model ?? {}) as Partial<Model>;
  return (modality === undefined || its === modality) && (name === undefined || itsName === name);
}

function checkModality(modality: string | undefined): void {
  if (modality === undefined || MODALITIES.some(known => known === modality)) return;
  throw usageError(...unknownName('modality', modality, MODALITIES));
}

function modelCells(model: Model): string[] {
  const options = model.availableRunOptions.map(({ key, options }) => `${key}=${options.join(',')}`);
  return [model.model, fieldText(model.modality), options.join(' ')];
}

/** Shows what is cached of the service's models, how old it is and where it is kept. Sends nothing. */
export async function resourcesStatus(ctx: Context): Promise<void> {
  const { file, service, cached } = await cachedResources(ctx);
  const status = {
    service,
    hash: cached?.hash ?? null,
    fetchedAt: cached?.fetchedAt ?? null,
    models: cached?.models.length ?? 0,
    file,
  };
  const age = cached === undefined ? '' : ageOf(cached.fetchedAt, ctx.clock.now());
  await present(ctx, status, {
    terminal: () =>
      [
        `Service  ${oneLine(service)}`,
        `Hash     ${cached === undefined ? 'none cached' : oneLine(cached.hash)}`,
        ...(cached === undefined ? [] : [`Models   ${cached.models.length}, fetched ${oneLine(age)}`]),
        `File     ${oneLine(file)}`,
      ].join('\n'),
    plain: () => plainRows(Object.entries(status).map(([key, value]) => [key, String(value ?? '')])),
  });
}

/** Renews the cached models. */
export async function resourcesRefresh(ctx: Context): Promise<void> {
  const { resources } = await ctx.connection();
  const answer = await resources.refresh({ signal: ctx.signal });
  const count = answer.resources.models.length;
  await present(ctx, answer, {
    terminal: () => `${counted(count, 'model')} cached, hash ${oneLine(answer.hash)}\n`,
    plain: () => plainRows([[answer.hash, String(count)]]),
  });
  if (!resources.isKept) ctx.io.note('The cache could not be written; see --debug.');
}
