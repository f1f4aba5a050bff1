import type { Context } from '../../context.ts';
import { presentList } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import type { Column } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'PROVIDER' },
  { title: 'ADDRESS', min: 20, dropOrder: 1 },
  { title: 'KEY IN' },
  { title: 'KEY' },
];

/** The providers that this machine's own service knows, and whether their keys are set. */
export async function modelsProviders(ctx: Context): Promise<void> {
  requireLocalService(ctx, 'models providers');
  const { providers, faults } = await ctx.local.listProviders({ dataDir: ctx.dataDir });
  const cells = (provider: Provider): string[] => {
    const { name, baseUrl, keyVariables } = provider;
    return [name, baseUrl, keyVariables.join(' or '), stateOf(provider)];
  };
  await presentList(ctx, providers, { columns: COLUMNS, cells });
  for (const fault of faults) ctx.io.note(`note: ${oneLine(fault)}`);
}

function stateOf({ keySetBy, keyVariables, fault, keySet }: Provider): string {
  if (keySetBy !== null && fault !== null) return fault;
  if (keySet) return `set (${keySetBy})`;
  if (keyVariables.length === 0) return 'not needed';
  return fault === null ? 'not set, not needed there' : 'not set';
}

type Provider = Awaited<ReturnType<Context['local']['listProviders']>>['providers'][number];
