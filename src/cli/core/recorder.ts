import type { Transport } from '../../client/transport.ts';
import type { EngineFault } from '../../models/engine.ts';

/** A creation as recordings know it: what a service may answer by. */
export interface RecordedRequest {
  readonly promptVersionId: string;
  readonly textInputs: Readonly<Record<string, string>>;
  /** SHA-256 of the bytes, hexadecimal, or an https URL, in order. */
  readonly imageInputs: readonly string[];
  readonly runOptions: Readonly<Record<string, string>>;
  /** The model given in place of the prompt's own; null where none is. */
  readonly model: string | null;
  /** SHA-256 of the schema that the output is checked against; null where none is given. */
  readonly schema: string | null;
  /** Which of several equal requests this is, from 1. */
  readonly repetition: number;
}

/** A request whose repetition may be left to the recorder, which counts equal ones. */
export type UncountedRequest = Omit<RecordedRequest, 'repetition'> & { readonly repetition?: number };

/** Keeps what is sent and answered, or answers from what was kept. */
export interface Recorder {
  readonly mode: 'record' | 'replay';
  /**
   * Says which request the creation with this idempotency key is.
   *
   * @throws {CliError} USAGE_ERROR in a replay where it was not recorded, naming the nearest recording
   */
  begin(idempotencyKey: string, request: UncountedRequest): Promise<void>;
  /** Why a recorded run failed before a model answered; only a replay knows. */
  faultOf?(runId: string): EngineFault | undefined;
  /** What a recorded run cost, in US dollars; only a replay knows. */
  costOf?(runId: string): number | undefined;
  /** The transport to use in place of the one that would be opened; a replay opens none. */
  wrap(open: () => Promise<Transport>): Promise<Transport>;
}

/** The directory, which is absolute, that runs are recorded in or replayed from. */
export interface ActiveRecordings {
  readonly mode: 'record' | 'replay';
  readonly directory: string;
}

/** What a command does with recordings, as flags or environment say. */
export type Recordings = ActiveRecordings | { readonly mode: 'none' };
