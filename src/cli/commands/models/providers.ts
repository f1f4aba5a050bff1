import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
A model's name may begin with one of them: openai/gpt-4o-mini. <NAME>_BASE_URL moves one (GEMINI_BASE_URL for googleai,
OLLAMA_HOST too); models.yaml may describe more, under providers.

Examples:
  promptrun models providers
  promptrun models providers --json

Piped, a line is: provider, address, variables that may hold its key, whether one is set.`;

export function declareModelsProviders(command: Command, host: Host, run = modelsProviders): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

const COLUMNS: readonly Column[] = [
  { title: 'PROVIDER' },
  { title: 'ADDRESS', min: 20, dropOrder: 1 },
  { title: 'KEY IN' },
  { title: 'KEY' },
];

/** The providers that this machine's own service knows, and whether their keys are set. */
export async function modelsProviders(ctx: Context): Promise<ExitCode> {
  requireLocalService(ctx, 'models providers');
  const { providers, faults } = await ctx.local.listProviders({ dataDir: ctx.dataDir });
  const rows = providers.map(provider => {
    const { name, baseUrl, keyVariables } = provider;
    return [name, baseUrl, keyVariables.join(' or '), stateOf(provider)];
  });
  await present(ctx, providers, {
    terminal: () => terminalTable(ctx.io, COLUMNS, rows),
    plain: () => plainRows(rows),
  });
  for (const fault of faults) ctx.io.note(`note: ${oneLine(fault)}`);
  return EXIT.ok;
}

function stateOf({ keySetBy, keyVariables, fault, keySet }: Provider): string {
  if (keySetBy !== null && fault !== null) return fault;
  if (keySet) return `set (${keySetBy})`;
  if (keyVariables.length === 0) return 'not needed';
  return fault === null ? 'not set, not needed there' : 'not set';
}

type Provider = Awaited<ReturnType<Context['local']['listProviders']>>['providers'][number];
