import type { RunRow } from '../wire/index.ts';
import type { PromptService } from './client.ts';
import { NetworkError, ProtocolError, ServiceError } from './errors.ts';

const SECOND_MS = 1000;
/** How much earlier is asked for while the service's clock is not known, so that its rounding needs no second look. */
const MARGIN_S = 2;

/** What is known of a creation that was never answered. */
export interface LostCreation {
  readonly promptVersionId: string;
  /** When it was sent, by the local clock, in milliseconds since the Unix epoch. */
  readonly sentAt: number;
  /** Runs that are known to be others. */
  readonly knownRunIds: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

export interface FoundRuns {
  /** The run, if exactly one fits. */
  readonly found?: RunRow;
  /** Every run that fits, newest first. */
  readonly candidates: readonly RunRow[];
}

/**
 * Looks for the run that a creation made whose answer was lost: of the same prompt version, created since by the
 * service's own clock, and not known. The service's clock is learned from its `Date` headers, if need be during the
 * search itself.
 *
 * @throws what `runs.list` throws
 */
export async function findLostRun(client: PromptService, lost: LostCreation): Promise<FoundRuns> {
  const clockIsKnown = client.clock.at(lost.sentAt) !== undefined;
  const asked = sinceSecond(client, lost) - (clockIsKnown ? 0 : MARGIN_S);
  const rows = await rowsSince(client, asked, lost.signal);
  const since = sinceSecond(client, lost);
  const again = !clockIsKnown && since < asked;
  const seen = again ? await rowsSince(client, since, lost.signal) : rows;
  const candidates = seen.filter(row => fits(row, lost, since));
  const [only] = candidates;
  return candidates.length === 1 && only ? { found: only, candidates } : { candidates };
}

/**
 * Whether a creation that failed with this error may have made a run all the same: no answer, one cut short, or an
 * intermediary's. Asking the service is the only way to know; sending again could pay twice.
 */
export function answerIsLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.nothingSent;
  const { httpStatus } = error instanceof ProtocolError || error instanceof ServiceError ? error : {};
  if (httpStatus === undefined) return error instanceof ProtocolError;
  if (error instanceof ServiceError) return !('runId' in error) && [502, 503, 504].includes(httpStatus);
  return httpStatus < 300 || httpStatus >= 500;
}

// Dates have whole seconds, so the second of the creation counts as after it.
function sinceSecond(client: PromptService, { sentAt }: LostCreation): number {
  return Math.floor((client.clock.at(sentAt) ?? sentAt) / SECOND_MS);
}

async function rowsSince(
  client: PromptService,
  since: number,
  signal: AbortSignal | undefined,
): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for await (const row of client.runs.all({ since }, signal && { signal })) rows.push(row);
  return rows;
}

function fits(row: RunRow, lost: LostCreation, since: number): boolean {
  if (row.promptVersionId !== lost.promptVersionId || lost.knownRunIds.has(row.runId)) return false;
  const createdAt = Date.parse(row.createdAt);
  return Number.isNaN(createdAt) || createdAt >= since * SECOND_MS;
}
