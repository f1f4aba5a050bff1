import { isUuid, MAX_LIST_LIMIT } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError, usageError } from '../core/errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/** Minimum length of the beginning of a run id. */
const MIN_BEGINNING_LENGTH = 6;
const RUN_ID_BEGINNING = /^[0-9a-f][0-9a-f-]*$/iu;

/**
 * Returns the id of the run that a name means: a run id, or its unique beginning among the runs of
 * the journal and the newest 50 of the service. The service refuses a name that can't begin an id.
 *
 * @throws {CliError} exit 4 if no run begins like this, exit 2 if several do or the beginning is
 * too short
 */
export async function resolveRun(
  ctx: Context,
  connection: Connection,
  name: string,
): Promise<string> {
  if (isUuid(name) || !RUN_ID_BEGINNING.test(name)) return name;

  if (name.length < MIN_BEGINNING_LENGTH) {
    throw usageError(
      `${name} is too short for a run`,
      `Give at least ${MIN_BEGINNING_LENGTH} characters of its id.`,
    );
  }

  const { serviceIds, foreignIds } = await fetchKnownRunIds(ctx, connection);
  const isMatch = (id: string): boolean => id.toLowerCase().startsWith(name.toLowerCase());
  const matchingServiceIds = serviceIds.filter(isMatch);

  // A run of another service is requested too, because the refusal says where it belongs.
  const matchingIds =
    matchingServiceIds.length > 0 ? matchingServiceIds : foreignIds.filter(isMatch);

  const [firstId] = matchingIds;
  if (firstId === undefined) {
    throw notFoundError(
      `no run begins with ${name} among the newest ${MAX_LIST_LIMIT} and those started on this machine`,
      `List your runs with: ${connection.formatCommand('runs', 'list')}`,
    );
  }

  if (matchingIds.length === 1) return firstId;

  throw usageError(
    `several runs begin with ${name}`,
    `Give more of the id: ${matchingIds.map(toOneLine).join(', ')}`,
  );
}

/** Lists the run ids of this service, and those of other services in the journal. */
async function fetchKnownRunIds(
  ctx: Context,
  { client, serviceName }: Connection,
): Promise<{ serviceIds: string[]; foreignIds: string[] }> {
  const { rows } = await client.runs.list({ limit: MAX_LIST_LIMIT }, { signal: ctx.signal });
  const serviceIds = new Set(rows.map(({ runId }) => runId));
  const foreignIds = new Set<string>();
  for await (const { baseUrl, runId } of ctx.journal.readNewestFirst()) {
    if (runId === undefined) continue;
    const ids = baseUrl === serviceName ? serviceIds : foreignIds;
    ids.add(runId);
  }

  return { serviceIds: [...serviceIds], foreignIds: [...foreignIds] };
}
