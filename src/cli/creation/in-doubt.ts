import type { RunRow } from '../../wire/index.ts';
import { messageOf } from '../core/error-utils.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';

/** Nobody can tell whether a creation made a run, or which. Exit 1. */
export class CreationInDoubt extends CliError {
  override readonly name = 'CreationInDoubt';
  readonly candidates: readonly RunRow[];
  /** The creation's entry in the journal; undefined where there is none. */
  readonly journalId: string | undefined;

  constructor(cause: unknown, candidates: readonly RunRow[], journalId?: string) {
    const reason = messageOf(cause);
    super(`the answer to the creation was lost: ${reason}`, {
      status: statusOf(cause),
      exitCode: EXIT.fault,
      hints: candidates.length === 0 ? NOTHING_FITS : [...candidates.map(describe), ...SEVERAL_FIT],
      data: {
        candidates: candidates.map(({ runId, runStatus, createdAt }) => ({ runId, runStatus, createdAt })),
      },
      cause,
    });
    this.candidates = candidates;
    this.journalId = journalId;
  }
}

const NOTHING_FITS = [
  'No run that fits was found, but one may still appear; it is not sent again, since it may cost credits.',
  'Look for it with: promptrun runs wait --last',
];
const SEVERAL_FIT = ["Which of them it was can't be told. Get one with: promptrun runs wait <runId>"];

function describe({ runId, runStatus, createdAt }: RunRow): string {
  return `It may be ${runId} (${runStatus}, created ${createdAt})`;
}

function statusOf(cause: unknown): string {
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'string'
    ? cause.status
    : 'NETWORK_ERROR';
}
