import {
  createFailedResult,
  type EngineOutput,
  type EngineResult,
} from '../../../models/engine.ts';
import { retryForever } from '../../core/background-work.ts';
import type { Clock } from '../../core/clock.ts';
import type { Media } from '../../media/media.ts';
import type { StoredMedia } from '../../store/media-store.ts';
import type { RunOutcome, StoredOutput, StoredUsage } from '../../store/runs/run-records.ts';
import { DiskFullError, ignoreUnavailableStore } from '../../store/store-errors.ts';
import { type HeldResult, type HeldResults, ResultLostError } from './held-results.ts';
import { UNSTORED_REASON } from './unstored-runs.ts';

export interface ChargedResult extends EngineResult {
  readonly charge?: StoredUsage | undefined;
}

/** The means to store the outputs of runs. */
export interface OutcomeStorage {
  readonly media: Media;
  readonly clock: Clock;
  readonly heldResults: HeldResults;
  /**
   * Called with the reasons of failed runs that only the operator may see; if undefined, callers
   * see them.
   */
  readonly notifyOperator?: ((line: string) => void) | undefined;
  /** Called each time that an answer can't be stored yet. */
  readonly onResultHeld: (error: unknown) => void;
}

/**
 * Stores the outputs and returns the outcome. The outcome is a failure if the database or the
 * object store stays away for too long, or is away when the service stops: the answer may have been
 * paid for, so the run is not left for the next start. /
 */
export async function storeOutcome(
  storage: OutcomeStorage,
  runId: string,
  result: ChargedResult,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const heldResult = storage.heldResults.hold(runId, () =>
    result.outputs.reduce(
      (sum, output) => sum + ('bytes' in output ? output.bytes.byteLength : 0),
      0,
    ),
  );
  try {
    return await storeOutputs({ ...storage, runId, heldResult, signal }, result);
  } catch (error) {
    const isStopped = signal.aborted && heldResult.loseIfWaiting();
    if (!isStopped && !(error instanceof ResultLostError)) throw error;
    const runError = error instanceof ResultLostError ? error.runErrorMessage : UNSTORED_REASON;
    const failedResult = {
      ...createFailedResult(runError),
      tokens: result.tokens,
      charge: result.charge,
    };
    return await storeOutputs({ ...storage, runId, heldResult, signal }, failedResult);
  } finally {
    heldResult.release();
  }
}

/** The means to store the outputs of one run. */
interface OutputStorage extends Omit<OutcomeStorage, 'results'> {
  readonly runId: string;
  /** The outputs, which may have to wait until they can be stored. */
  readonly heldResult: HeldResult;
  readonly signal: AbortSignal;
}

/** An output as it is stored, with the record of its media. */
interface OutputRecord {
  readonly output: StoredOutput;
  readonly media?: StoredMedia;
}

async function storeOutputs(storage: OutputStorage, result: ChargedResult): Promise<RunOutcome> {
  const records = await Promise.all(result.outputs.map(output => storeOutput(storage, output)));
  return {
    status: result.hasFailed ? 'failed' : 'succeeded',
    outputs: records.map(({ output }) => output),
    tokens: result.tokens,
    media: records.flatMap(({ media }) => media ?? []),
    usage: result.charge,
    fault: result.fault,
    isUnanswered: result.isUnanswered,
    warnings: result.warnings?.map(replaceNul),
  };
}

/** Replaces NUL, which PostgreSQL can't store. */
function replaceNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

async function storeOutput(
  { media, clock, notifyOperator, onResultHeld, runId, heldResult, signal }: OutputStorage,
  output: EngineOutput,
): Promise<OutputRecord> {
  if (output.type === 'text') return { output: { type: 'text', data: replaceNul(output.text) } };

  if (output.type === 'error') {
    const { message, publicMessage = message } = output;
    if (publicMessage !== message) notifyOperator?.(`run ${runId}: ${message}`);
    return {
      output: { type: 'error', data: replaceNul(notifyOperator ? publicMessage : message) },
    };
  }

  const { type, bytes, mediaType } = output;

  // The output may have cost money, so it is held until it can be stored, within limits.
  const storedMedia = await retryForever(() => media.save(runId, bytes, mediaType), {
    clock,
    signal,
    onFault: error => {
      if (!(error instanceof DiskFullError)) ignoreUnavailableStore(error);
      onResultHeld(error);
      heldResult.recordFailure(error);
    },
  });
  if (!storedMedia) throw new Error('the service is stopping');
  const { id, createdAt } = storedMedia;
  return { output: { type, media: id, mediaType, createdAt }, media: storedMedia };
}
