import type { Db } from '../writer.ts';
import { toNonEmpty } from './run-selections.ts';

/** A run with its usage. `promptModel` is the model that the prompt names. */
export type RunWithUsage = ReturnType<typeof toRunWithUsage>;

/** Returns the usage of those of these runs that belong to the user. */
export async function readRunsUsage(
  db: Db,
  userId: number,
  ids: readonly string[],
): Promise<RunWithUsage[]> {
  return (await selectUsage(db, userId, ids)).map(toRunWithUsage);
}

function selectUsage(db: Db, userId: number, ids: readonly string[]) {
  return db
    .selectFrom('runs')
    .innerJoin('promptVersions', 'promptVersions.id', 'runs.promptVersionId')
    .leftJoin('runUsage', 'runUsage.runId', 'runs.id')
    .select(['runs.id', 'promptVersions.model as promptModel', 'runs.status', 'runs.credits'])
    .select([
      'runUsage.runId as usageOf',
      'runUsage.model',
      'input',
      'output',
      'cached',
      'cost',
      'estimated',
      'answers',
    ])
    .where('runs.userId', '=', userId)
    .where('runs.id', 'in', toNonEmpty(ids))
    .execute();
}

/**
 * Returns a row as a run with its usage, which is undefined if the model needs no provider, or the
 * run never got an answer.
 */
function toRunWithUsage({ usageOf, model, input, output, cached, cost, ...row }: UsageRow) {
  const { estimated, answers, ...run } = row;
  const counts = { input, output, cached, cost, estimated: estimated ?? 0, answers: answers ?? 1 };
  const storedUsage = { model: model ?? run.promptModel, ...counts };
  return { ...run, usage: usageOf === null ? undefined : storedUsage };
}

type UsageRow = Awaited<ReturnType<typeof selectUsage>>[number];
