import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { getConcurrency } from '../../jobs/paced-connection.ts';
import { withResumeJournal } from '../../jobs/resume-journal.ts';
import { StopControl } from '../../jobs/stop-control.ts';
import { fetchRunMedia, type MediaContent } from '../../outputs/media-content.ts';
import type { EntryResult } from '../entry-result.ts';
import type { Judge } from '../judging/judge.ts';
import type { TestOptions } from '../test-options.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { runEntries } from './run-entries.ts';

/** The cases to run, and what checks their answers. */
export interface PreparedTests {
  readonly entries: readonly PreparedEntry[];
  /** The paths of all named test files. */
  readonly paths: readonly string[];
  readonly judge: Judge;
  readonly budget: Budget;
  /** Called once the answer of a repetition has been checked. */
  readonly onChecked: () => void;
  /** The images for a page by URL, which the test adds. */
  readonly media: Map<string, MediaContent>;
}

/** Runs the entries of each service, one service after the other. */
export async function runEntriesByService(
  ctx: Context,
  tests: PreparedTests,
  options: TestOptions,
): Promise<EntryResult[]> {
  const results: EntryResult[] = [];
  const stop = new StopControl();

  const { judge, budget, onChecked } = tests;
  const journalSubject = { kind: 'tests', names: tests.paths.toSorted() } as const;
  for (const [connection, entries] of groupByService(tests.entries)) {
    const concurrency = getConcurrency(connection, options.concurrency);
    const runOptions = { ...options, concurrency, budget, judge, stop, onChecked };
    const serviceResults = await withResumeJournal(ctx, journalSubject, connection, journal =>
      runEntries(ctx, connection, entries, { ...runOptions, journal }),
    );
    results.push(...serviceResults);
    if (!options.outputs.some(({ reporter }) => reporter === 'html')) continue;

    const runs = serviceResults.flatMap(({ repetitions }) =>
      repetitions.flatMap(({ run }) => run ?? []),
    );
    const mediaOfRuns = await fetchRunMedia(connection, runs, {
      isForPage: true,
      signal: ctx.signal,
    });
    for (const [url, medium] of mediaOfRuns) tests.media.set(url, medium);
  }

  return results;
}

/** Groups entries by the service that runs them. */
export function groupByService(
  entries: readonly PreparedEntry[],
): (readonly [Connection, PreparedEntry[]])[] {
  const connections = new Map(
    entries.map(({ connection }) => [connection.serviceName, connection]),
  );
  return [...connections].map(([service, connection]) => [
    connection,
    entries.filter(entry => entry.connection.serviceName === service),
  ]);
}
