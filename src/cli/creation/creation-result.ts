import { PromptServiceError, ServiceError } from '../../client/errors.ts';
import { answerIsLost } from '../../client/find-lost-run.ts';
import type { RawAnswer } from '../../client/request-options.ts';
import type { RequestBody } from '../../client/transport.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError, NoMoreRunsError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { UncountedRequest } from '../recordings/recorder.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { CreationInDoubtError } from './in-doubt.ts';

export interface CreationRequest {
  readonly promptVersionId: string;
  readonly body: RequestBody;
  /** The hexadecimal SHA-256 of the texts, images and options. */
  readonly digest: string;
  /** The query of the request, which `api` can set; none by default. */
  readonly query?: string;
  /** The request in a recording; without it, the creation is neither recorded nor replayed. */
  readonly recordedRequest?: UncountedRequest;
}

/** A run as the service returned it, marked if it was recovered after a lost answer. */
export type CreatedRun = Run & { readonly recovered?: true };

/** An existing run: with its outputs once it has ended, otherwise only its id. */
export type CreationResult =
  | { readonly kind: 'ended'; readonly run: CreatedRun; readonly journalId: string }
  | {
      readonly kind: 'running';
      readonly runId: string;
      /**
       * The status in the answer to the creation, or in the list of runs; `running` if the answer
       * has none.
       */
      readonly runStatus: string;
      readonly journalId: string;
      /** True if it was found in the list of runs, because the creation was not answered. */
      readonly recovered: boolean;
    };

export interface CreateRunOptions {
  /** Number of retries after certain refusals; the client's default if undefined. */
  readonly retries?: number | undefined;
  /** A journal entry to send again under the same key; a new one by default. */
  readonly entry?: JournalEntry | undefined;
  /**
   * Called with the journal entry before the creation is sent, while the entry is written; awaited.
   */
  readonly onBegin?: (entry: JournalEntry) => Promise<void> | undefined;
  /** Called with every answer of the service to the creation. */
  readonly onAnswer?: (answer: RawAnswer) => void;
  /**
   * True to search the list if the answer is lost. Default true. False leaves the search to
   * `searchRuns`.
   */
  readonly searchesIfLost?: boolean;
  /**
   * Ends waits before the creation is sent, with the signal's reason; a creation in doubt is sent
   * again anyway.
   */
  readonly unsentSignal?: AbortSignal;
  /** Called each time the request is about to be written to a connection. */
  readonly onSent?: () => void;
}

/**
 * Refuses a version if this machine can't reach its model, before any run is created.
 *
 * @throws {CliError} exit 3 if the key is missing, exit 2 if it can't be used
 */
export async function checkModelAccess(
  { costs }: Connection,
  promptVersionId: string,
): Promise<void> {
  const fault = await costs?.findAccessFault(promptVersionId);
  if (fault === undefined) return;
  if (fault.kind !== 'missing') throw usageError(fault.message);
  throw new CliError(fault.message, {
    status: 'FORBIDDEN_ERROR',
    exitCode: EXIT.unauthorised,
    hints: ['Nothing was sent. `promptrun models providers` shows which keys are set.'],
  });
}

/**
 * Returns what an error shows about the creation that it ended. `lost`: the service did not answer
 * and may have made a run. `failed`: the service answered with its own fault and may have created a
 * run anyway. `refused`: it made none.
 */
export function classifyCreationError(error: unknown): 'lost' | 'failed' | 'refused' {
  if (answerIsLost(error)) return 'lost';
  if (error instanceof ServiceError) return error.httpStatus >= 500 ? 'failed' : 'refused';
  // The client throws its other errors before it has sent a whole request.
  const isUnsent =
    error instanceof PromptServiceError ||
    error instanceof CliError ||
    error instanceof NoMoreRunsError;
  return isUnsent ? 'refused' : 'failed';
}

/** Returns true if a creation that ended in this error may have made a run of unknown id. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof CreationInDoubtError || classifyCreationError(error) !== 'refused') {
    return true;
  }
  const isStopped =
    error instanceof CliError &&
    [EXIT.waitTimeout, EXIT.interrupted, EXIT.terminated].some(code => code === error.exitCode);
  return isStopped && mayHaveBeenSent(error);
}

/** Returns false if a timeout or signal ended a creation before any of it was sent. */
export function mayHaveBeenSent(error: unknown): boolean {
  return !(
    error instanceof CliError &&
    isJsonObject(error.data) &&
    error.data['started'] === false
  );
}
