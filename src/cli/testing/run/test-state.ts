import { createHash } from 'node:crypto';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { lockFile, type Release } from '../../../files/lock.ts';
import type { Run } from '../../../wire/index.ts';
import { BatchJournal } from '../../batch/run/job-journal.ts';
import type { Connection } from '../../context.ts';
import { isObject } from '../../core/json-value.ts';
import { usageError } from '../../errors.ts';
import type { EntryStatus } from '../result.ts';
import type { PreparedEntry } from './prepare-entries.ts';

/** A repetition that has ended with a run. */
export interface EndedRepetition {
  readonly run: Run;
  readonly seconds: number;
}

/**
 * What a test notes of its repetitions while it runs, so that it can be resumed and its failures run again: a journal
 * like a batch's, one for each set of test files, in the state directory. What has ended stays until it is run again.
 */
export class TestState {
  readonly journal: BatchJournal;
  readonly #release: Release;

  private constructor(journal: BatchJournal, release: Release) {
    this.journal = journal;
    this.#release = release;
  }

  /** @throws {CliError} USAGE_ERROR while another test of the same files runs */
  static async open(
    stateDir: string,
    files: readonly string[],
    { service, recorder }: Connection,
  ): Promise<TestState> {
    const names = [service, recorder?.mode === 'replay' ? 'replay' : '', ...files.toSorted()].join('\0');
    const name = createHash('sha256').update(names).digest('hex').slice(0, 32);
    const directory = path.join(stateDir, 'tests');
    makeDirectory(directory, 0o700);
    const release = lockFile(path.join(directory, name));
    if (release === undefined) {
      throw usageError('another test of these files is running', 'Wait until it ends.');
    }
    try {
      return new TestState(await BatchJournal.open(path.join(directory, `${name}.jsonl`)), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Whether a case did not pass when it was last run. */
  hasFailed(entry: PreparedEntry): boolean {
    const status = this.journal.marks.get(statusId(entry));
    return status === 'failed' || status === 'fault';
  }

  /** Forgets what is known of repetitions that are run anew; how cases ended stays. */
  forget(ids: ReadonlySet<string>): Promise<void> {
    return this.journal.forget(ids);
  }

  finished(entry: PreparedEntry, status: EntryStatus): Promise<void> {
    return this.journal.mark(statusId(entry), status);
  }

  async close(): Promise<void> {
    await this.journal.close();
    this.#release();
  }
}

function statusId({ key, firstRepetition }: PreparedEntry): string {
  return `${key}-${firstRepetition}`;
}

/** What the journal holds of a repetition that has ended. */
export function endedRepetition(value: unknown): EndedRepetition | undefined {
  return isObject(value) && isObject(value['run']) && typeof value['seconds'] === 'number'
    ? (value as unknown as EndedRepetition)
    : undefined;
}
