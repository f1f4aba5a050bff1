import PQueue from 'p-queue';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { searchRuns } from '../../creation/find-run.ts';
import { timedOutWait } from '../../creation/give-up.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import { sendCreation } from '../../creation/send-creation.ts';
import { waitForKnownRun } from '../../creation/wait.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { type JournalEntry, mayHaveMadeRun } from '../../settings/journal/journal-lines.ts';
import { checkExpectation } from '../expectations/check-expectation.ts';
import type { Judge, Mismatch } from '../expectations/expectation.ts';
import { type EntryResult, type Repetition, resultOf } from '../result.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import type { KeptRepetition, TestState } from './test-state.ts';

export interface RunEntriesOptions {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly judge: Judge;
  readonly state: TestState;
}

/**
 * Runs every entry as often as it says and checks what comes back; results are in the order of the entries.
 *
 * @throws {CliError} INTERRUPTED; what has ended by then is kept for `--resume`
 */
export async function runEntries(
  ctx: Context,
  connection: Connection,
  entries: readonly PreparedEntry[],
  options: RunEntriesOptions,
): Promise<EntryResult[]> {
  const queue = new PQueue({ concurrency: options.concurrency });
  const work = { ctx, connection, ...options };
  const running = entries.map(async prepared => {
    const repetitions = await Promise.all(
      Array.from({ length: prepared.entry.testCase.repeat }, (_, at) =>
        queue.add(() => repetition(work, prepared, at + 1)),
      ),
    );
    const result = resultOf(prepared.entry, repetitions);
    await options.state.finished(prepared, result.status);
    return result;
  });
  const settled = await Promise.allSettled(running);
  return settled.map(one => {
    if (one.status === 'rejected') {
      throw one.reason;
    }
    return one.value;
  });
}

interface Work extends RunEntriesOptions {
  readonly ctx: Context;
  readonly connection: Connection;
}

async function repetition(work: Work, prepared: PreparedEntry, number: number): Promise<Repetition> {
  const { ctx, judge, state } = work;
  const { testCase } = prepared.entry;
  let run: Run | undefined;
  let seconds = 0;
  try {
    ({ run, seconds } = await ranOrKept(work, prepared, number));
    await state.ended(prepared, number, { run, seconds });
    const answer = { text: textOfOutputs(run.outputs), seconds };
    const mismatches: Mismatch[] = [];
    for (const expectation of run.runStatus === 'failed' ? [] : testCase.expect) {
      const mismatch = await checkExpectation(expectation, answer, judge);
      mismatches.push(...(mismatch === undefined ? [] : [mismatch]));
    }
    return { run, seconds, mismatches: [...failedRun(run, testCase.line), ...mismatches], fault: undefined };
  } catch (error) {
    if (ctx.signal.aborted) {
      throw error;
    }
    return { run, seconds, mismatches: [], fault: failureOf(error) };
  }
}

/** A run that failed is something that did not come as expected, not something that could not be run. */
function failedRun({ runStatus, outputs }: Run, line: number): Mismatch[] {
  if (runStatus !== 'failed') {
    return [];
  }
  const errors = outputs.filter(({ type }) => type === 'error').map(({ data }) => fieldText(data));
  return [{ line, message: `the run failed${errors.length > 0 ? `: ${errors.join('; ')}` : ''}` }];
}

interface Ended {
  readonly run: Run;
  readonly seconds: number;
}

/** What an interrupted test has paid for, or may have, is never run again: a run that is known is taken up. */
async function ranOrKept(work: Work, prepared: PreparedEntry, number: number): Promise<Ended> {
  const { ctx, connection, state } = work;
  const kept = state.before(prepared, number);
  if (kept?.ended !== undefined) {
    return kept.ended;
  }
  let startedAt = ctx.clock.now();
  const seconds = (): number => (ctx.clock.now() - startedAt) / 1000;
  const known = kept === undefined ? {} : await takenUp(ctx, connection, kept);
  if (known.runId !== undefined) {
    const run = await waitForKnownRun(ctx, connection, known.runId, { idFromService: true });
    return { run, seconds: seconds() };
  }
  const request = buildRunBody({ ...prepared.request, repetition: prepared.firstRepetition + number - 1 });
  const created = await createAndWait(ctx, connection, request, {
    timeoutMs: ctx.globals.timeoutMs,
    entry: known.again,
    // Waiting for a turn to send is not the model's time.
    send: (to, creation, options) =>
      sendCreation(to, creation, {
        ...options,
        onSent: () => {
          startedAt = ctx.clock.now();
          options.onSent();
        },
      }),
    onBegin: entry => state.begun(prepared, number, entry.id),
    onRunId: runId => state.created(prepared, number, runId),
  });
  if (created.kind === 'going') {
    throw timedOutWait(created.runId);
  }
  return { run: created.run, seconds: seconds() };
}

interface TakenUp {
  /** Its run is known. */
  readonly runId?: string;
  /** The service gives its one run when it is sent again under its key. */
  readonly again?: JournalEntry;
}

/**
 * What is to be done for a creation that was begun before; nothing of both where it certainly made no run.
 *
 * @throws {CreationInDoubt} where it may have made one, and nobody can tell which
 */
async function takenUp(ctx: Context, connection: Connection, kept: KeptRepetition): Promise<TakenUp> {
  if (kept.runId !== undefined || kept.journalId === undefined) {
    return kept.runId === undefined ? {} : { runId: kept.runId };
  }
  const entry = await journalEntry(ctx, kept.journalId);
  if (entry === undefined || entry.runId !== undefined || !mayHaveMadeRun(entry)) {
    return entry?.runId === undefined ? {} : { runId: entry.runId };
  }
  const [found] = await searchRuns(ctx, connection, [entry], { signal: ctx.signal });
  if (found?.run !== undefined) {
    return { runId: found.run.runId };
  }
  if (connection.client.keepsIdempotencyKeys === true) {
    return { again: entry };
  }
  throw new CreationInDoubt(new Error('the test was interrupted'), found?.candidates ?? [], entry);
}

async function journalEntry({ journal }: Context, id: string): Promise<JournalEntry | undefined> {
  for await (const entry of journal.newestFirst()) {
    if (entry.id === id) {
      return entry;
    }
  }
  return undefined;
}
