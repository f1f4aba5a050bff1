import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { ageOf } from '../../core/time.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { cachedResources } from '../../settings/caches/cached-resources.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { plainRows } from '../../terminal/table.ts';

/** Shows what is cached of the service's models, how old it is and where it is kept. Sends nothing. */
export async function resourcesStatus(ctx: Context): Promise<ExitCode> {
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
  return EXIT.ok;
}

/** Renews the cached models. */
export async function resourcesRefresh(ctx: Context): Promise<ExitCode> {
  const { resources } = await ctx.connection();
  const answer = await resources.refresh({ signal: ctx.signal });
  const count = answer.resources.models.length;
  await present(ctx, answer, {
    terminal: () => `${counted(count, 'model')} cached, hash ${oneLine(answer.hash)}\n`,
    plain: () => plainRows([[answer.hash, String(count)]]),
  });
  if (!resources.isKept) ctx.io.note('The cache could not be written; see --debug.');
  return EXIT.ok;
}
