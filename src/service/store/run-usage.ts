import type { Tables } from './tables.ts';
import type { Db } from './writer.ts';

/** What a run used and cost. */
export type RunUsage = Omit<Tables['runUsage'], 'runId'>;

/** A run with what is known of its cost. */
export interface UsedRun {
  readonly id: string;
  readonly promptVersionId: string;
  /** The model that its prompt names. */
  readonly promptModel: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  /** 0 for a free run. */
  readonly credits: number;
  /** Microseconds since the Unix epoch. */
  readonly createdAt: number;
  /** undefined if nothing was kept: its model needs no provider, or it did not end by itself. */
  readonly usage: RunUsage | undefined;
}

/** What runs used. */
export function runUsageStore(db: Db) {
  return {
    of: async (userId: number, runIds: readonly string[]) =>
      runIds.length === 0 ? [] : (await used(db, userId).where('runs.id', 'in', runIds).execute()).map(runOf),
    /** A page of a user's runs, newest first; both times in microseconds, `until` itself left out. */
    between: async (userId: number, since: number, until: number, limit: number) =>
      (
        await used(db, userId)
          .where('runs.createdAt', '>=', since)
          .where('runs.createdAt', '<', until)
          .orderBy('runs.createdAt', 'desc')
          .limit(limit)
          .execute()
      ).map(runOf),
  };
}

function used(db: Db, userId: number) {
  return db
    .selectFrom('runs')
    .innerJoin('promptVersions', 'promptVersions.id', 'runs.promptVersionId')
    .leftJoin('runUsage', 'runUsage.runId', 'runs.id')
    .select([
      'runs.id',
      'runs.promptVersionId',
      'promptVersions.model as promptModel',
      'runs.status',
      'runs.credits',
      'runs.createdAt',
      'runUsage.runId as usageOf',
      'runUsage.model',
      'runUsage.input',
      'runUsage.output',
      'runUsage.cached',
      'runUsage.cost',
      'runUsage.estimated',
    ])
    .where('runs.userId', '=', userId);
}

type Row = Awaited<ReturnType<ReturnType<typeof used>['execute']>>[number];

function runOf({ id, promptVersionId, promptModel, status, credits, createdAt, ...row }: Row): UsedRun {
  const { usageOf, model, input, output, cached, cost, estimated } = row;
  const usage =
    usageOf === null
      ? undefined
      : { model: model ?? promptModel, input, output, cached, cost, estimated: estimated ?? 0 };
  return { id, promptVersionId, promptModel, status, credits, createdAt, usage };
}
