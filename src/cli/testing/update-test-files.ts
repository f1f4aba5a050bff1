import type { Context } from '../context.ts';
import { toFailure } from '../core/failure.ts';
import { pluralize } from '../core/pluralize.ts';
import { toUpdateError, updateTestFile } from './cases/update-test-file.ts';
import type { EntryResult } from './entry-result.ts';
import { reportTestFault } from './reporters/report-end.ts';

/** The results of a test after `--update`, and the faults of files that could not be written. */
interface UpdatedResults {
  readonly results: readonly EntryResult[];
  readonly faults: readonly unknown[];
}

/**
 * Writes actual answers as the expected ones. Expectations that can't be written, or don't match
 * all answers, stay failed. A file that can't be written is a fault, and its results stay
 * unchanged.
 */
export async function updateTestFiles(
  ctx: Context,
  results: readonly EntryResult[],
): Promise<UpdatedResults> {
  const updatedResults: EntryResult[] = [];
  const faults: unknown[] = [];
  const names = new Map(results.map(({ entry: { file } }) => [file.path, file.name]));
  for (const [file, name] of names) {
    const resultsOfFile = results.filter(({ entry }) => entry.file.path === file);
    try {
      const { results: newResults, writtenCount } = await updateTestFile(file, resultsOfFile);
      updatedResults.push(...newResults);
      if (writtenCount > 0) {
        ctx.io.note(`note: ${name}: ${pluralize(writtenCount, 'expectation')} updated`);
      }
    } catch (error) {
      updatedResults.push(...resultsOfFile);
      faults.push(toUpdateError(name, error));
    }
  }

  return { results: updatedResults, faults };
}

/** Throws the first fault of an update, if there is one, and reports the others. */
export function throwIfUpdateFailed(ctx: Context, faults: readonly unknown[]): void {
  if (faults.length === 0) return;
  for (const fault of faults.slice(1)) reportTestFault(ctx, toFailure(fault));
  throw faults[0];
}
