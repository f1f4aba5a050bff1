import type { Context } from '../../context.ts';
import type { ModelsReport } from '../../core/local-service.ts';
import { EXIT } from '../../exit-codes.ts';
import { type Check, passed } from './checks.ts';

/** Checks models.yaml and asks each provider of this machine's own service for its models; nothing where there is none. */
export async function checkModels(ctx: Context): Promise<readonly Check[]> {
  const { dataDir, signal } = ctx;
  const report = await ctx.local.reportModels({ dataDir, signal, ask: true });
  if (!report.exists && report.providers.length === 0 && report.faults.length === 0) return [];
  return [checkFile(report), ...report.providers.map(checkProvider)];
}

function checkFile({ file, exists, faults }: ModelsReport): Check {
  const [first, ...others] = faults;
  if (first !== undefined) {
    return { name: 'models', ok: false, detail: first, hints: others, exitCode: EXIT.usage };
  }
  if (exists) return passed('models', `${file} can be used`);
  return {
    ...passed('models', `there is no ${file} yet`),
    hints: ['promptrun models discover writes the models of your endpoints to it'],
  };
}

function checkProvider({
  name,
  baseUrl,
  missingKey,
  fault,
  models,
}: ModelsReport['providers'][number]): Check {
  const place = `${name} at ${baseUrl}`;
  if (missingKey !== undefined) {
    const hints = [`Set ${missingKey}, or take the provider out of models.yaml.`];
    return { name: 'provider', ok: false, detail: `${place} has no key`, hints, exitCode: EXIT.unauthorised };
  }
  if (fault === undefined) return passed('provider', `${place} has ${models ?? 0} models`);
  return { name: 'provider', ok: false, detail: `${place}: ${fault}`, hints: [], exitCode: EXIT.fault };
}
