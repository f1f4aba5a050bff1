import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { cachedResources } from '../../settings/caches/cached-resources.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { plainRows } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun resources status
  promptrun resources status --query hash`;

export function declareResourcesStatus(command: Command, host: Host, run = resourcesStatus): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

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
        `Hash     ${cached === undefined ? 'none held' : oneLine(cached.hash)}`,
        ...(cached === undefined ? [] : [`Models   ${cached.models.length}, fetched ${oneLine(age)}`]),
        `File     ${oneLine(file)}`,
      ].join('\n'),
    plain: () => plainRows(Object.entries(status).map(([key, value]) => [key, String(value ?? '')])),
  });
  return EXIT.ok;
}
