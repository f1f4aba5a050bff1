import { PromptServiceError, ServiceError } from '../../client/errors.ts';
import { answerIsLost } from '../../client/recover.ts';
import type { RawAnswer } from '../../client/request.ts';
import type { RequestBody } from '../../client/transport.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { isObject } from '../core/json-value.ts';
import type { UncountedRequest } from '../core/recorder.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import { CreationInDoubt } from './in-doubt.ts';

/** A creation as it is sent. */
export interface CreationRequest {
  readonly promptVersionId: string;
  /** JSON. */
  readonly body: RequestBody;
  /** SHA-256 of what makes the run: texts, images and options, hexadecimal. */
  readonly digest: string;
  /** The query of the request, as `api` may be given one; none by default. */
  readonly query?: string;
  /** As recordings know it; what has none is neither recorded nor replayed. */
  readonly recorded?: UncountedRequest;
}

/** A run as the service gave it; one whose creation was not answered is marked. */
export type CreatedRun = Run & { readonly recovered?: true };

/** A run that exists: with its outputs once it has ended, otherwise only its id. */
export type Created =
  | { readonly kind: 'ended'; readonly run: CreatedRun; readonly journalId: string }
  | {
      readonly kind: 'going';
      readonly runId: string;
      readonly journalId: string;
      /** It was taken from the list of runs, since the creation was not answered. */
      readonly recovered: boolean;
    };

export interface CreateOptions {
  /** Tries after the first, where it was certainly refused; the client's usual number by default. */
  readonly retries?: number | undefined;
  /** An entry of the journal to send once more, under the same key; a new one by default. */
  readonly entry?: JournalEntry | undefined;
  /** Called with the creation before it is sent, while it is written to the journal; awaited. */
  readonly onBegin?: (entry: JournalEntry) => Promise<void> | undefined;
  /** Called with every answer of the service to the creation. */
  readonly onAnswer?: (answer: RawAnswer) => void;
  /** Whether the list is looked at where the answer is lost; true by default. False leaves that to `searchRuns`. */
  readonly search?: boolean;
  /** Called each time it is about to be written to a connection. */
  readonly onSent?: () => void;
}

/**
 * Refuses a version whose model can't be asked from this machine, before any run of it is created.
 *
 * @throws {CliError} exit 3 for a missing key, exit 2 for one that can't be used
 */
export async function checkModelAccess({ costs }: Connection, promptVersionId: string): Promise<void> {
  const fault = await costs?.accessFault(promptVersionId);
  if (fault === undefined) return;
  if (fault.kind !== 'key') throw usageError(fault.message);
  throw new CliError(fault.message, {
    status: 'FORBIDDEN_ERROR',
    exitCode: EXIT.unauthorised,
    hints: ['Nothing was sent. `promptrun models providers` shows which keys are set.'],
  });
}

/**
 * What an error says of the creation that ended in it, some of which was sent: `lost`: no answer of the service came, it
 * may have made a run; `failed`: the service answered with a fault of its own, and may have made one all the same;
 * `refused`: it made none.
 */
export function creationFault(error: unknown): 'lost' | 'failed' | 'refused' {
  if (answerIsLost(error)) return 'lost';
  if (error instanceof ServiceError) return error.httpStatus >= 500 ? 'failed' : 'refused';
  // The others are found out before a whole request has been sent.
  const isKnown = error instanceof PromptServiceError || error instanceof CliError;
  return isKnown ? 'refused' : 'failed';
}

/** Whether a creation that ended in an error may have made a run of unknown id. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof CreationInDoubt || creationFault(error) !== 'refused') return true;
  const isGivenUp =
    error instanceof CliError &&
    [EXIT.waitTimeout, EXIT.interrupted, EXIT.terminated].some(code => code === error.exitCode);
  return isGivenUp && wasStarted(error);
}

/** Whether a creation was given up, by time or by a signal, after some of it had been sent. */
export function wasStarted(error: unknown): boolean {
  return !(error instanceof CliError && isObject(error.data) && error.data['started'] === false);
}
