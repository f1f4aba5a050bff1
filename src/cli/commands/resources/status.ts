import type { Command } from 'commander';
import type { Host } from '../../command.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { ageOf } from '../../outputs/age.ts';
import { present } from '../../outputs/present.ts';
import { oneLine } from '../../outputs/sanitise.ts';
import { plainRows } from '../../outputs/table.ts';
import { heldResources } from '../../settings/held-resources.ts';

const EXAMPLES = `
Examples:
  promptrun resources status
  promptrun resources status --query hash`;

export function declareResourcesStatus(command: Command, host: Host, run = resourcesStatus): void {
  command.addHelpText('after', EXAMPLES).action(() => host.act(command, ctx => run(ctx)));
}

/** Shows what is held of the service's models, how old it is and where it is kept. Sends nothing. */
export async function resourcesStatus(ctx: Context): Promise<ExitCode> {
  const { file, service, held } = await heldResources(ctx);
  const status = {
    service,
    hash: held?.hash ?? null,
    fetchedAt: held?.fetchedAt ?? null,
    models: held?.models.length ?? 0,
    file,
  };
  const age = held === undefined ? '' : ageOf(held.fetchedAt, ctx.clock.now());
  await present(ctx, status, {
    terminal: () =>
      [
        `Service  ${oneLine(service)}`,
        `Hash     ${held === undefined ? 'none held' : oneLine(held.hash)}`,
        ...(held === undefined ? [] : [`Models   ${held.models.length}, fetched ${oneLine(age)}`]),
        `File     ${oneLine(file)}`,
      ].join('\n'),
    plain: () => plainRows(Object.entries(status).map(([key, value]) => [key, String(value ?? '')])),
  });
  return EXIT.ok;
}
