import type { BatchAnswer } from '../../../models/provider-batches/batch-provider.ts';
import type { Clock } from '../../core/clock.ts';
import type { Meter } from '../../core/meter.ts';
import type { NewRun, RunOutcome, UserLimits } from '../../store/runs/run-records.ts';
import type { Store } from '../../store/store.ts';
import type { InputFiles } from '../input-files.ts';
import type { Executor } from './executor.ts';
import type { HeldResults } from './held-results.ts';
import type { UnstoredRuns } from './unstored-runs.ts';

/** A new run that is neither started nor queued. */
export interface UnstartedRun extends Omit<NewRun, 'status' | 'worker' | 'outcome'> {
  /**
   * True if its answer costs a provider nothing and depends only on its request, so that it may be
   * made again.
   */
  readonly isRepeatable: boolean;
}

/** A stored run, which has ended, continues in this process, or is left to another one. */
export interface AcceptedRun {
  /** The id of the run, or of the one that a creation with the same key made before. */
  readonly runId: string;
  /** The outcome of a run that was stored together with its end. */
  readonly outcome?: RunOutcome;
  /** The end of a run that continues; left out if this process will not see it. */
  readonly ending?: Promise<RunOutcome | undefined>;
}

/** Accepts new runs: a command carries out its own immediately, `serve` queues them. */
export interface Runner {
  /** Stores a run and has it carried out. @throws {CreationRefused} */
  create(run: UnstartedRun): Promise<AcceptedRun>;
  /** Fails a run that has not ended, whichever process carries it out. */
  cancel(runId: string): Promise<void>;
}

/** The end of a run that this process carried out. */
export interface RunEnd {
  readonly runId: string;
  readonly userId: number;
  readonly status: RunOutcome['status'];
  /** Time from its start to its end, in milliseconds. */
  readonly durationMs: number;
}

export interface RunnerOptions {
  readonly store: Store;
  readonly executor: Executor;
  readonly inputFiles: InputFiles;
  readonly clock: Clock;
  readonly heldResults: HeldResults;
  readonly unstoredRuns: UnstoredRuns;
  /** Answers from provider batches, by the keys of their creations. */
  readonly batchAnswers: ReadonlyMap<string, BatchAnswer>;
  /** The ids of runs whose programs are running, which must not be started again. */
  readonly programRunIds: Set<string>;
  readonly meter?: Meter | undefined;
  /** Called for each run that ended here, after its end was stored. */
  readonly onRunEnd?: ((run: RunEnd) => void) | undefined;
  /** Called each time that an answer can't be stored yet. */
  readonly onResultHeld: (error: unknown) => void;
  /** Called with faults that no caller sees. */
  readonly onFault: (error: unknown) => void;
  readonly limits: UserLimits;
}

/** The error of a run that its user has cancelled. */
export const CANCELLED_RUN = 'cancelled';
