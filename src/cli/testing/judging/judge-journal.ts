import type { Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import type { CreationRequest } from '../../creation/creation-result.ts';
import type { BatchJournal } from '../../jobs/batch-journal.ts';
import type { ExtraCreation } from '../../jobs/read-journal.ts';
import { isKeyKept } from '../../jobs/settle-doubts.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import type { JudgeLog } from './judge.ts';

interface JudgeJournalOptions {
  readonly journal: BatchJournal;
  /** True to resume from an earlier invocation's questions. */
  readonly resume: boolean;
  /** True to ask questions without a known answer again. */
  readonly retryUnknown: boolean;
}

/** Keeps the questions about a repetition in the test's journal, so that none is paid for twice. */
export class JudgeJournal implements JudgeLog {
  readonly #ctx: Pick<Context, 'clock'>;
  readonly #journal: BatchJournal;
  readonly repetitionId: string;
  readonly repeatsFailed: boolean;
  readonly #earlierQuestions: EarlierQuestion[];
  #hasAsked = false;

  constructor(
    ctx: Pick<Context, 'clock'>,
    repetitionId: string,
    { journal, resume, retryUnknown }: JudgeJournalOptions,
  ) {
    this.#ctx = ctx;
    this.repetitionId = repetitionId;
    this.#journal = journal;
    this.repeatsFailed = retryUnknown;
    const questions = [...(resume ? journal.extras.values() : [])].filter(isAbout(repetitionId));
    // The last answer to a repeated question counts.
    this.#earlierQuestions = retryUnknown
      ? questions.filter(({ runId }) => runId !== undefined)
      : questions;
  }

  /** True if this invocation of the test has asked a judge. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  takeEarlierResult(
    { promptVersionId, digest }: CreationRequest,
    declarationDigest: string | undefined,
  ): ReturnType<JudgeLog['takeEarlierResult']> {
    const index = this.#earlierQuestions.findLastIndex(
      earlier =>
        earlier.entry.promptVersionId === promptVersionId &&
        earlier.entry.inputsDigest === digest &&
        earlier.declarationDigest === declarationDigest,
    );
    const [question] = index === -1 ? [] : this.#earlierQuestions.splice(index, 1);
    if (question === undefined) return undefined;

    const { runId, entry } = question;
    if (runId !== undefined) return { runId };
    if (isKeyKept(this.#ctx, entry)) return { entry };

    throw new CliError('it is not known whether the judge answered', {
      status: 'NETWORK_ERROR',
      exitCode: EXIT.fault,
      hints: ['Ask the judge again, at its price, with --resume --retry-unknown.'],
    });
  }

  recordCreation(entry: JournalEntry, declarationDigest: string | undefined): Promise<void> {
    this.#hasAsked = true;
    const { repetitionId: job } = this;
    return this.#journal.append({
      kind: 'extra creation',
      journalId: entry.id,
      job,
      entry,
      declarationDigest,
    });
  }

  recordEnd(creationId: string, runId: string | null): Promise<void> {
    return this.#journal.append({ kind: 'extra end', journalId: creationId, runId });
  }
}

/** A question of an earlier invocation, with its creation. */
type EarlierQuestion = ExtraCreation & { readonly entry: JournalEntry };

function isAbout(repetitionId: string): (extra: ExtraCreation) => extra is EarlierQuestion {
  return (extra): extra is EarlierQuestion =>
    extra.job === repetitionId && extra.entry !== undefined;
}
