import { WaitTimeoutError } from '../../client/errors.ts';
import { waitForRun } from '../../client/poll.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { type Deadline, TimeIsUp } from './deadline.ts';
import { interruptedWait, timedOutWait } from './gave-up.ts';

/** What is known of a run while it is waited for. */
export interface WaitProgress {
  readonly status: string;
  /** Answers so far. */
  readonly polls: number;
}

export interface WaitToTheEndOptions {
  /** The service has just said that it takes longer, so the first poll can wait. */
  readonly fresh: boolean;
  readonly onProgress?: ((progress: WaitProgress) => void) | undefined;
}

/**
 * Polls until a run has ended.
 *
 * @throws {CliError} WAIT_TIMEOUT or INTERRUPTED, naming the run and how to get it
 */
export async function waitToTheEnd(
  connection: Connection,
  runId: string,
  deadline: Deadline,
  options: WaitToTheEndOptions,
): Promise<Run> {
  let status = 'running';
  try {
    return await waitForRun(connection.client, runId, {
      signal: deadline.signal,
      delayFirst: options.fresh,
      onPoll: ({ run, polls }) => {
        status = run?.runStatus ?? status;
        options.onProgress?.({ status, polls });
      },
    });
  } catch (error) {
    if (error instanceof WaitTimeoutError || deadline.signal.reason instanceof TimeIsUp)
      throw timedOutWait(runId);
    throw deadline.signal.aborted
      ? interruptedWait(deadline.signal.reason, runId, connection.embedded)
      : error;
  }
}
