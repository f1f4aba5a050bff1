import type { DiscoveredEndpoint } from '../../../service/models/discover.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { plainRows } from '../../terminal/table.ts';

/** Writes the models of the configured endpoints to models.yaml; fails if none of them could be asked. */
export async function modelsDiscover(ctx: Context): Promise<void> {
  requireLocalService(ctx, 'models discover');
  const found = await ctx.local.discoverModels({ dataDir: ctx.dataDir, signal: ctx.signal });
  const { file, endpoints, faults: lost } = found;
  for (const fault of lost) ctx.io.note(`note: ${oneLine(fault)}`);
  if (endpoints.length === 0) {
    throw usageError(
      'there is no endpoint to ask for its models',
      `Set a key such as OPENAI_API_KEY, or OPENAI_BASE_URL, start Ollama, or describe a provider in ${file}`,
    );
  }
  await present(ctx, found, {
    terminal: () => `${[...endpoints.map(lineOf), `They are in ${oneLine(file)}`].join('\n')}\n`,
    plain: () => plainRows(endpoints.map(rowOf)),
  });
  const faults = endpoints.filter(({ fault }) => fault !== undefined);
  if (faults.length < endpoints.length) {
    if (!ctx.io.stdout.isTerminal) for (const one of faults) ctx.io.note(`note: ${lineOf(one)}`);
    return;
  }
  const [first] = faults;
  throw new CliError(`no endpoint gave its models: ${first === undefined ? '' : lineOf(first)}`, {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}

function lineOf({ provider, baseUrl, fault, added, known, others }: DiscoveredEndpoint): string {
  const place = `${oneLine(provider)} at ${oneLine(baseUrl)}`;
  if (fault !== undefined) return `${place} could not be asked: ${oneLine(fault)}`;
  const shown = added.slice(0, SHOWN).map(oneLine).join(', ');
  const more = added.length > SHOWN ? ` and ${added.length - SHOWN} more` : '';
  const news = added.length === 0 ? 'nothing new' : `${added.length} new: ${shown}${more}`;
  const rest = [
    known > 0 ? `${known} known before` : '',
    others > 0 ? `${others} that answer no prompts` : '',
  ];
  return [`${place}: ${news}`, ...rest.filter(text => text !== '')].join('; ');
}

const SHOWN = 8;

function rowOf({ provider, baseUrl, fault = '', added, known }: DiscoveredEndpoint): string[] {
  return [provider, baseUrl, added.join(','), String(known), fault];
}
