import type { Transport } from '../../client/transport.ts';
import type { EngineFault } from '../../models/engine.ts';

/** A creation in the form of recordings: everything that a service's answer may depend on. */
export interface RecordedRequest {
  readonly promptVersionId: string;
  readonly textInputs: Readonly<Record<string, string>>;
  /** The images: of each the hexadecimal SHA-256 of its bytes, or its https URL. */
  readonly imageInputs: readonly string[];
  readonly runOptions: Readonly<Record<string, string>>;
  /** The model to use instead of the prompt's own; null if none was given. */
  readonly model: string | null;
  /** SHA-256 of the output's schema; null if none was given. */
  readonly schema: string | null;
  /** The number among equal requests, from 1. */
  readonly repetition: number;
}

/** A request whose repetition may be missing; the recorder then counts equal requests. */
export type UncountedRequest = Omit<RecordedRequest, 'repetition'> & {
  readonly repetition?: number;
};

/** A recorder of requests and answers, or a replayer, which answers from recordings. */
export interface Recorder {
  readonly mode: 'record' | 'replay';
  /**
   * Registers the request that will be sent with this idempotency key.
   *
   * @throws {CliError} USAGE_ERROR in a replay if it was not recorded; the message names the
   * nearest recording
   */
  registerRequest(idempotencyKey: string, request: UncountedRequest): Promise<void>;
  /**
   * Registers a run of an earlier invocation, so that its answer is recorded for this request when
   * it is read; only while recording.
   */
  registerEarlierRun?(runId: string, request: UncountedRequest): void;
  /** Explains why a recorded run failed before a model answered; only in a replay. */
  findFault?(runId: string): EngineFault | undefined;
  /** Returns the cost of a recorded run in US dollars; only in a replay. */
  findCost?(runId: string): number | undefined;
  /** Returns the transport to use instead of the one that `open` opens; a replay opens none. */
  wrapTransport(open: () => Promise<Transport>): Promise<Transport>;
}

/** Recordings that are made or replayed. */
export interface ActiveRecordings {
  readonly mode: 'record' | 'replay';
  /** The absolute path. */
  readonly directory: string;
}

/** The use of recordings that flags or the environment request. */
export type Recordings = ActiveRecordings | { readonly mode: 'none' };
