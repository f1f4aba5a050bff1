import type { Connection, Context } from '../context.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { getConcurrency } from '../jobs/paced-connection.ts';
import { ResumableRequests, type ResumeOptions } from '../jobs/resumable-requests.ts';
import { withResumeJournal } from '../jobs/resume-journal.ts';
import { StopControl } from '../jobs/stop-control.ts';

export interface ResumableComparison extends ResumeOptions {
  /** The names of its rows, targets and models, by which the journal is found again. */
  readonly names: readonly string[];
  /** The services of the variants; two variants may share one. */
  readonly connections: readonly Connection[];
  readonly budget: Budget;
  /** Maximum number of open creations at each service; undefined for the service's default. */
  readonly concurrency: number | undefined;
}

/**
 * Opens a journal for each service, calls `work` with the requests by service, and closes the
 * journals.
 */
export async function withJournals<T>(
  ctx: Context,
  comparison: ResumableComparison,
  work: (requests: ReadonlyMap<string, ResumableRequests>) => Promise<T>,
): Promise<T> {
  const { names, connections, ...options } = comparison;
  const requests = new Map<string, ResumableRequests>();
  const stop = new StopControl();

  // Each journal is open within the one before.
  const openNext = async ([connection, ...remaining]: readonly Connection[]): Promise<T> => {
    if (connection === undefined) return work(requests);
    if (requests.has(connection.serviceName)) return openNext(remaining);
    return withResumeJournal(ctx, { kind: 'comparisons', names }, connection, async journal => {
      const concurrency = getConcurrency(connection, options.concurrency);
      const requestOptions = { ...options, journal, stop, concurrency };
      requests.set(
        connection.serviceName,
        await ResumableRequests.open(ctx, connection, () => true, requestOptions),
      );
      return openNext(remaining);
    });
  };

  return openNext(connections);
}
