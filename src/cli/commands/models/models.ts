import type { DiscoveredEndpoint } from '../../../models/catalogue/discover-models.ts';
import type { listProviders } from '../../../models/catalogue/report-models.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { present, presentList } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { formatPlainRows } from '../../terminal/table.ts';

type ListedProvider = Awaited<ReturnType<typeof listProviders>>['providers'][number];

/** Maximum number of models that a message names. */
const MAX_SHOWN_MODELS = 8;

/** Writes the models of the configured endpoints to models.yaml; fails if no endpoint answered. */
export async function writeDiscoveredModels(ctx: Context): Promise<void> {
  requireLocalService(ctx, 'models discover');
  const { discoverModels } = await import('../../../models/catalogue/discover-models.ts');
  const discovery = await discoverModels(ctx);
  const { file, endpoints } = discovery;

  for (const fault of discovery.faults) ctx.io.note(`note: ${toOneLine(fault)}`);

  if (endpoints.length === 0) {
    throw usageError(
      'no endpoint to ask for its models',
      `Set a key such as OPENAI_API_KEY, or OPENAI_BASE_URL, start Ollama, or describe a provider in ${file}`,
    );
  }

  await present(ctx, discovery, {
    terminal: () =>
      `${[...endpoints.map(describeEndpoint), `They are in ${toOneLine(file)}`].join('\n')}\n`,
    plain: () => formatPlainRows(endpoints.map(formatEndpointCells)),
  });

  noteUnpricedModels(ctx, endpoints);

  const failedEndpoints = endpoints.filter(({ fault }) => fault !== undefined);
  if (failedEndpoints.length === endpoints.length) throw noModelListError(failedEndpoints);

  if (!ctx.io.stdout.isTerminal) {
    for (const endpoint of failedEndpoints) ctx.io.note(`note: ${describeEndpoint(endpoint)}`);
  }
}

/** Returns the error for endpoints none of which listed its models; it names the first. */
function noModelListError(failedEndpoints: readonly DiscoveredEndpoint[]): CliError {
  const descriptions = failedEndpoints.map(describeEndpoint);
  const failure = failedEndpoints.every(({ isRefused }) => isRefused)
    ? { status: 'UNAUTHORIZED_ERROR', exitCode: EXIT.unauthorised }
    : { status: 'NETWORK_ERROR', exitCode: EXIT.fault };
  return new CliError(`no endpoint listed its models: ${descriptions[0]}`, failure);
}

/** Writes a note about the models whose price has to be added to models.yaml. */
function noteUnpricedModels({ io }: Context, endpoints: readonly DiscoveredEndpoint[]): void {
  const names = endpoints.flatMap(({ unpriced }) => unpriced);
  if (names.length === 0) return;
  io.note(
    `note: no price is known for ${formatNames(names)}: give each a price in models.yaml, in US dollars per million tokens (price: {input: 0.5, output: 2}) or per picture (price: {image: 0.04})`,
  );
}

function formatNames(names: readonly string[]): string {
  const moreText =
    names.length > MAX_SHOWN_MODELS ? ` and ${names.length - MAX_SHOWN_MODELS} more` : '';
  return `${names.slice(0, MAX_SHOWN_MODELS).map(toOneLine).join(', ')}${moreText}`;
}

function describeEndpoint({
  provider,
  baseUrl,
  fault,
  added,
  known,
  others,
}: DiscoveredEndpoint): string {
  const endpoint = `${toOneLine(provider)} at ${toOneLine(baseUrl)}`;
  if (fault !== undefined) return `${endpoint} could not be asked: ${toOneLine(fault)}`;

  const addedText =
    added.length === 0 ? 'nothing new' : `${added.length} new: ${formatNames(added)}`;
  const countTexts = [
    known > 0 ? `${known} known before` : '',
    others > 0 ? `${others} that don't answer prompts` : '',
  ];
  return [`${endpoint}: ${addedText}`, ...countTexts.filter(text => text !== '')].join('; ');
}

function formatEndpointCells({
  provider,
  baseUrl,
  fault = '',
  added,
  known,
}: DiscoveredEndpoint): string[] {
  return [provider, baseUrl, added.join(','), String(known), fault];
}

/** Lists the providers that the embedded service knows, and shows if their keys are set. */
export async function printProviders(ctx: Context): Promise<void> {
  requireLocalService(ctx, 'models providers');
  const report = await import('../../../models/catalogue/report-models.ts');
  const { providers, faults } = await report.listProviders(ctx);
  await presentList(ctx, providers, {
    columns: [
      { title: 'PROVIDER', cell: ({ name }) => name },
      { title: 'ADDRESS', minWidth: 20, dropOrder: 1, cell: ({ baseUrl }) => baseUrl },
      { title: 'KEY IN', cell: ({ keyVariables }) => keyVariables.join(' or ') },
      { title: 'KEY', cell: describeKeyState },
    ],
  });
  for (const fault of faults) ctx.io.note(`note: ${toOneLine(fault)}`);
}

/**
 * Describes the key of a provider. A missing key is a fault only if the provider needs one: at an
 * address of the user's own it does not.
 */
function describeKeyState({ keySetBy, keyVariables, fault, keySet }: ListedProvider): string {
  if (keySetBy !== null && fault !== null) return fault;
  if (keySet) return `set (${keySetBy})`;
  if (keyVariables.length === 0) return 'not needed';
  return fault === null ? 'not set, not needed there' : 'not set';
}
