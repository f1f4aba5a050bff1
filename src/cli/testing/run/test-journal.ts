import { createHash } from 'node:crypto';
import path from 'node:path';
import { DYING_MS, waitForLock } from '../../../files/lock.ts';
import { makeFolderBelow } from '../../../files/write-below.ts';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { BatchJournal } from '../../jobs/job-journal.ts';

/**
 * Does `work` with what tests note of their repetitions while they run, so that they can be resumed and their failures
 * run again: a journal like a batch's, one for each set of test files, in the state directory.
 *
 * @throws {CliError} USAGE_ERROR while another test of the same files runs
 */
export async function withTestJournal<T>(
  { stateDir, clock }: Pick<Context, 'stateDir' | 'clock'>,
  files: readonly string[],
  { service, recorder }: Connection,
  work: (journal: BatchJournal) => Promise<T>,
): Promise<T> {
  const names = [service, recorder?.mode === 'replay' ? 'replay' : '', ...files.toSorted()].join('\0');
  const name = createHash('sha256').update(names).digest('hex').slice(0, 32);
  makeFolderBelow({ folder: stateDir, name: 'tests' }, 0o700);
  const release = await waitForLock({ folder: stateDir, name: path.join('tests', name) }, clock, DYING_MS);
  if (release === undefined)
    throw usageError('another test of these files is running', 'Wait until it ends.');
  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open({ folder: stateDir, name: path.join('tests', `${name}.jsonl`) });
    return await work(journal);
  } finally {
    await journal?.close();
    release();
  }
}
