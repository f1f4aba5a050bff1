import { isUuid, MAX_LIST_LIMIT } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError, usageError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** How much of a run id has to be given. */
const FEWEST_CHARACTERS = 6;
const BEGINNING = /^[0-9a-f][0-9a-f-]*$/iu;

/**
 * The id of the run that a name stands for: a run id as it is, or a unique beginning of one among the runs of the
 * journal and the newest 50 of the service. What can't be the beginning of an id is left to the service to refuse.
 *
 * @throws {CliError} exit 4 where no run begins so, exit 2 where several do or it is too short
 */
export async function resolveRun(ctx: Context, connection: Connection, name: string): Promise<string> {
  if (isUuid(name) || !BEGINNING.test(name)) return name;
  if (name.length < FEWEST_CHARACTERS) {
    throw usageError(
      `${name} is too short for a run`,
      `Give at least ${FEWEST_CHARACTERS} characters of its id.`,
    );
  }
  const { own, others: elsewhere } = await listedRuns(ctx, connection);
  const fits = (id: string): boolean => id.toLowerCase().startsWith(name.toLowerCase());
  // A run of another service is asked for all the same: that it is one is said then.
  const fitting = [own, elsewhere].map(ids => ids.filter(fits)).find(ids => ids.length > 0) ?? [];
  const [only, ...others] = fitting;
  if (only === undefined) {
    throw notFoundError(
      `no run begins with ${name} among the newest ${MAX_LIST_LIMIT} and those started on this machine`,
      `Runs are shown by: ${connection.advise('runs', 'list')}`,
    );
  }
  if (others.length === 0) return only;
  throw usageError(
    `several runs begin with ${name}`,
    `Give more of the id: ${fitting.map(oneLine).join(', ')}`,
  );
}

/** Of this service, and of others by the journal. */
async function listedRuns(
  ctx: Context,
  { client, service }: Connection,
): Promise<{ own: string[]; others: string[] }> {
  const { rows } = await client.runs.list({ limit: MAX_LIST_LIMIT }, { signal: ctx.signal });
  const own = new Set(rows.map(({ runId }) => runId));
  const others = new Set<string>();
  for await (const { baseUrl, runId } of ctx.journal.newestFirst()) {
    if (runId !== undefined) (baseUrl === service ? own : others).add(runId);
  }
  return { own: [...own], others: [...others] };
}
