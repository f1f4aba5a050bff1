import { ServiceError } from '../../client/errors.ts';
import { answerIsLost } from '../../client/find-lost-run.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

type HintConnection = Pick<Connection, 'formatCommand' | 'client'>;

/** Thrown when a creation may have made a run, but that run is not known. Exit 1. */
export class CreationInDoubtError extends CliError {
  override readonly name = 'CreationInDoubtError';
  readonly candidates: readonly RunRow[];
  readonly entry: JournalEntry;

  /** @param foundRuns the runs that match; undefined if there was no search */
  constructor(
    cause: unknown,
    foundRuns: readonly RunRow[] | undefined,
    entry: JournalEntry,
    connection: HintConnection,
  ) {
    const candidates = foundRuns ?? [];
    super(`${explainDoubt(cause)}: ${getErrorMessage(cause)}`, {
      status: getCauseStatus(cause),
      exitCode: EXIT.fault,
      hints: listDoubtHints(connection, entry, foundRuns),
      data: {
        candidates: candidates.map(({ runId, runStatus, createdAt }) => ({
          runId,
          runStatus,
          createdAt,
        })),
      },
      cause,
    });

    this.candidates = candidates;
    this.entry = entry;
  }
}

/**
 * Explains why a creation is in doubt: it was not answered, or the service answered only with its
 * own faults.
 */
export function explainDoubt(cause: unknown): string {
  const isAnswered = cause instanceof ServiceError && !answerIsLost(cause);
  return isAnswered
    ? 'the service failed to create the run'
    : 'the answer to the creation was lost';
}

const NOT_SEARCHED =
  'A run may have been created anyway. The creation is not sent again, since it may cost credits.';

const NO_MATCH =
  'No matching run was found, but one may still appear. The creation is not sent again, since it may cost credits.';

const MAY_BELONG_TO_OTHERS =
  'The list shows no inputs, so a matching run may belong to somebody else with the same key. Check it before you use it.';

const MAX_CANDIDATES = 10;

/**
 * Returns hints on what to do about a creation without a known run.
 *
 * @param foundRuns the runs that match; undefined if there was no search
 */
export function listDoubtHints(
  connection: HintConnection,
  entry: JournalEntry,
  foundRuns: readonly RunRow[] | undefined,
): string[] {
  if (foundRuns !== undefined && foundRuns.length > 0) {
    return [...describeCandidates(connection, foundRuns), MAY_BELONG_TO_OTHERS];
  }
  const explanation = foundRuns === undefined ? NOT_SEARCHED : NO_MATCH;
  return [explanation, formatFindLaterHint(connection, entry)];
}

/**
 * Returns a hint to find the run later: by its key if the service keeps keys, else among the runs
 * since its creation.
 */
export function formatFindLaterHint(connection: HintConnection, entry: JournalEntry): string {
  const { formatCommand, client } = connection;
  const command =
    client.keepsIdempotencyKeys === true
      ? formatCommand('runs', 'wait', '--last')
      : formatListSinceCommand(connection, entry);
  return `Look for it with: ${command}`;
}

/** Returns the command that lists the runs since a creation, by the service's clock. */
export function formatListSinceCommand(
  { formatCommand }: Pick<HintConnection, 'formatCommand'>,
  { time, clockOffsetMs = 0 }: Pick<JournalEntry, 'time' | 'clockOffsetMs'>,
): string {
  const since = new Date(
    Math.floor((Date.parse(time) + clockOffsetMs) / 1000) * 1000,
  ).toISOString();
  return formatCommand('runs', 'list', '--since', since.replace('.000', ''));
}

/** Returns a line for each candidate run, with the command that waits for it. */
export function describeCandidates(
  { formatCommand }: Pick<HintConnection, 'formatCommand'>,
  candidates: readonly RunRow[],
): string[] {
  const candidateLines = candidates
    .slice(0, MAX_CANDIDATES)
    .map(
      ({ runId, runStatus, createdAt }) =>
        `It may be ${runId} (${runStatus}, created ${createdAt}): ${formatCommand('runs', 'wait', runId)}`,
    );
  const unnamedCount = candidates.length - candidateLines.length;
  return unnamedCount > 0
    ? [...candidateLines, `… or one of ${unnamedCount} more: ${formatCommand('runs', 'list')}`]
    : candidateLines;
}

function getCauseStatus(cause: unknown): string {
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'string'
    ? cause.status
    : 'NETWORK_ERROR';
}
