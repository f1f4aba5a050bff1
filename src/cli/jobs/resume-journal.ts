import { createHash } from 'node:crypto';
import path from 'node:path';
import { DEATH_DELAY_MS, type Release, waitForLock } from '../../files/writing/lock.ts';
import {
  type ContainedPath,
  makeContainedFolder,
  PathFault,
} from '../../files/writing/write-below.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Connection, Context } from '../context.ts';
import { configError, unwritableError, usageError } from '../core/errors.ts';
import { BatchJournal } from './batch-journal.ts';

/** A command's work that can be resumed; the name of the folder of its journals. */
export type ResumableKind = 'tests' | 'comparisons' | 'judges';

const JOURNAL_IN_USE = {
  tests: 'another test of these files is running',
  comparisons: 'another comparison of these targets is running',
  judges: 'another check of this judge is running',
} as const satisfies Record<ResumableKind, string>;

/**
 * Calls `work` with the journal that its jobs can be resumed from. The state directory has one
 * journal for each service and list of names, and another one for replays.
 *
 * @param kind the folder of the journal
 * @param names the names that identify the work, such as its files, in order
 * @throws {CliError} USAGE_ERROR while another command does the same work
 */
export async function withResumeJournal<T>(
  { stateDir, clock }: Pick<Context, 'stateDir' | 'clock'>,
  { kind, names }: { readonly kind: ResumableKind; readonly names: readonly string[] },
  { serviceName, recorder }: Connection,
  work: (journal: BatchJournal) => Promise<T>,
): Promise<T> {
  const identity = [serviceName, recorder?.mode === 'replay' ? 'replay' : '', ...names].join('\0');
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  const journalName = path.join(kind, digest);
  const release = await lockJournal({ folder: stateDir, name: journalName }, clock);
  if (release === undefined) throw usageError(JOURNAL_IN_USE[kind], 'Wait until it ends.');

  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open({ folder: stateDir, name: `${journalName}.jsonl` });
    return await work(journal);
  } finally {
    await journal?.close();
    release();
  }
}

/** Locks a journal; returns undefined if another command holds it. */
async function lockJournal(
  file: ContainedPath,
  clock: Context['clock'],
): Promise<Release | undefined> {
  try {
    makeContainedFolder({ ...file, name: path.dirname(file.name) }, 0o700);
    return await waitForLock(file, clock, DEATH_DELAY_MS);
  } catch (error) {
    if (error instanceof PathFault) throw error;
    const journalPath = `${path.join(file.folder, file.name)}.jsonl`;
    const directoryHint = 'or set PROMPTRUN_STATE_DIR to another directory.';
    const deniedError = configError(
      `the journal ${journalPath} can't be written: ${getErrorMessage(error)}`,
      `Make its folder writable, ${directoryHint}`,
    );
    throw unwritableError(error, deniedError, `Free some disk space, ${directoryHint}`);
  }
}
