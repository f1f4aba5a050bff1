import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import { concurrencyFor } from '../../jobs/paced-connection.ts';
import { withResumeJournal } from '../../jobs/resume-journal.ts';
import { StopControl } from '../../jobs/stop-control.ts';
import { fetchRunMedia, type MediaContent } from '../../outputs/media-content.ts';
import type { EntryResult } from '../entry-result.ts';
import type { TestOptions } from '../test-options.ts';
import type { Judge } from './judge.ts';
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
  /** Collects the pictures for a page. */
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
  for (const [connection, ownEntries] of byService(tests.entries)) {
    const runResult = await withResumeJournal(
      ctx,
      { kind: 'tests', names: tests.paths.toSorted() },
      connection,
      journal => {
        const concurrency = concurrencyFor(connection, options.concurrency);
        const { judge, budget, onChecked } = tests;
        return runEntries(ctx, connection, ownEntries, {
          ...options,
          concurrency,
          budget,
          journal,
          judge,
          stop,
          onChecked,
        });
      },
    );
    results.push(...runResult);
    if (!options.outputs.some(({ reporter }) => reporter === 'html')) continue;
    const runs = runResult.flatMap(({ repetitions }) => repetitions.flatMap(({ run }) => run ?? []));
    const content = await fetchRunMedia(connection, runs, { forPage: true, signal: ctx.signal });
    for (const [url, medium] of content) tests.media.set(url, medium);
  }
  return results;
}

export function byService(entries: readonly PreparedEntry[]): (readonly [Connection, PreparedEntry[]])[] {
  const connections = new Map(entries.map(({ connection }) => [connection.service, connection]));
  return [...connections].map(([service, connection]) => [
    connection,
    entries.filter(entry => entry.connection.service === service),
  ]);
}
