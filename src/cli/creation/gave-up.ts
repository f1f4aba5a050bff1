import { type CliError, Interrupted, waitTimeout } from '../errors.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { TimeIsUp } from './deadline.ts';

/** How long the one look for a run may take after the time for waiting is over, in milliseconds. */
const LOOK_MS = 10_000;

/** Ctrl-C or SIGTERM before the creation was answered. */
export function interruptedCreation(reason: unknown, sent: boolean, embedded: boolean): unknown {
  if (!(reason instanceof Interrupted)) return reason;
  if (!sent) return new Interrupted(reason.signal, [], { message: 'no run was started' });
  return new Interrupted(
    reason.signal,
    [...laterIfEmbedded(embedded), 'Get it with: promptrun runs wait --last'],
    {
      message: 'a run may have been started and may go on',
    },
  );
}

/** Ctrl-C or SIGTERM while a run is waited for. */
export function interruptedWait(reason: unknown, runId: string, embedded: boolean): unknown {
  if (!(reason instanceof Interrupted)) return reason;
  const hints = [...laterIfEmbedded(embedded), `Get it with: promptrun runs wait ${shellWord(runId)}`];
  return new Interrupted(reason.signal, hints, { message: `run ${runId} goes on`, data: { runId } });
}

/** The time was over before the creation was answered: the run is looked for once. */
export async function timedOutCreation(
  reason: unknown,
  sent: boolean,
  look: (limit: AbortSignal) => Promise<string | undefined>,
): Promise<unknown> {
  if (!(reason instanceof TimeIsUp)) return reason;
  if (!sent) {
    return waitTimeout('gave up waiting; no run was started', {
      hints: ['Allow more time with --timeout.'],
    });
  }
  const runId = await look(AbortSignal.timeout(LOOK_MS)).catch(() => undefined);
  if (runId !== undefined) return timedOutWait(runId);
  return waitTimeout('gave up waiting; the creation has not been answered, a run may go on', {
    hints: ['Get it with: promptrun runs wait --last'],
  });
}

/** The time was over while a run was waited for. */
export function timedOutWait(runId: string): CliError {
  return waitTimeout(`gave up waiting; run ${runId} goes on`, {
    hints: [`Get it with: promptrun runs wait ${shellWord(runId)}`],
    data: { runId },
  });
}

/** The embedded service ends with the process; its runs are taken up by the next one. */
function laterIfEmbedded(embedded: boolean): string[] {
  return embedded ? ['The embedded service takes it up again with the next command.'] : [];
}
