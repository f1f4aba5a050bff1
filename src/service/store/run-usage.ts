import type { Tables } from './tables.ts';
import type { Db } from './writer.ts';

/** What a run used and cost. */
export type RunUsage = Omit<Tables['runUsage'], 'runId'>;

/** What runs used. */
export function runUsageStore(db: Db) {
  return {
    of: async (userId: number, runIds: readonly string[]) =>
      runIds.length === 0 ? [] : (await used(db, userId, runIds).execute()).map(runOf),
  };
}

function used(db: Db, userId: number, runIds: readonly string[]) {
  return db
    .selectFrom('runs')
    .innerJoin('promptVersions', 'promptVersions.id', 'runs.promptVersionId')
    .leftJoin('runUsage', 'runUsage.runId', 'runs.id')
    .select([
      'runs.id',
      'promptVersions.model as promptModel',
      'runs.status',
      'runs.credits',
      'runUsage.runId as usageOf',
      'runUsage.model',
      'runUsage.input',
      'runUsage.output',
      'runUsage.cached',
      'runUsage.cost',
      'runUsage.estimated',
    ])
    .where('runs.userId', '=', userId)
    .where('runs.id', 'in', runIds);
}

/** A run with what is known of its cost. */
export type UsedRun = ReturnType<typeof runOf>;

/** `promptModel` is what the prompt names; there is no usage if the model needs no provider, or the run did not end by itself. */
function runOf({ usageOf, model, input, output, cached, cost, estimated, ...run }: Row) {
  const used = { model: model ?? run.promptModel, input, output, cached, cost, estimated: estimated ?? 0 };
  return { ...run, usage: usageOf === null ? undefined : used };
}

type Row = Awaited<ReturnType<ReturnType<typeof used>['execute']>>[number];
