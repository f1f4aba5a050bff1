import { isOver, type Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { parsePeriod } from '../../core/period.ts';
import { recordEnd, waitForKnownRun } from '../../creation/create-and-wait.ts';
import { requireLastRun } from '../../creation/last-run.ts';
import { createRowBuffer } from '../../outputs/present-pages.ts';
import { createOutputPlan, presentRun } from '../../outputs/present-run.ts';
import { type PresentedRun, presentRuns } from '../../outputs/present-runs.ts';
import { printValue } from '../../outputs/print-json.ts';
import type { RunFacts } from '../../outputs/saving/manifest.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { resolveRun } from '../../targets/run-name.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { askOfRun, readRun, requireRunsOrLast, resolveNamedRun } from './named-run.ts';
import type { RUNS_GET, RUNS_SAVE, RUNS_WAIT } from './spec.ts';

/** Prints the outputs of a run, or a note that it has not ended. */
export async function printRun(
  ctx: Context,
  name: string | undefined,
  flags: FlagsOf<typeof RUNS_GET.flags>,
): Promise<ExitCode> {
  requireRunsOrLast(ctx, name === undefined ? [] : [name], flags);
  const createPresentation = await createOutputPlan(ctx, flags);
  const connection = await ctx.connection();
  const namedId = await resolveNamedRun(ctx, connection, name);
  const run = await readRun(ctx, connection, namedId, 'get');

  const { runId, runStatus } = run;
  if (isOver(run)) {
    const facts =
      flags.save === undefined
        ? {}
        : toRunFacts(await ctx.journal.find(connection.serviceName, runId));
    return presentRun(ctx, connection, run, createPresentation(facts));
  }

  if (ctx.globals.json) {
    await printValue(ctx, run);
  } else {
    const wait = connection.formatCommand('runs', 'wait', runId);
    ctx.io.note(
      `note: run ${toOneLine(runId)} is ${toOneLine(runStatus)}; wait for it with: ${wait}`,
    );
  }

  return EXIT.ok;
}

/** Returns the journal's facts about a run; empty if another machine started it. */
function toRunFacts(entry: JournalEntry | undefined): RunFacts {
  if (entry === undefined) return {};
  return { promptVersionId: entry.promptVersionId, startedAt: Date.parse(entry.time) };
}

export type RunsSaveFlags = FlagsOf<typeof RUNS_SAVE.flags>;

/** Writes the outputs of runs to files, and prints the result as `run` does. */
export async function saveRuns(
  ctx: Context,
  names: readonly string[],
  flags: RunsSaveFlags,
): Promise<ExitCode> {
  requireOneSelection(names, flags);
  const { last: _, since, to, ...outputFlags } = flags;
  const { since: sinceSeconds } = parsePeriod({ since }, ctx.clock.now());
  const saveFlags = { ...outputFlags, save: to ?? (true as const) };
  const createPresentation = await createOutputPlan(ctx, saveFlags, '--to');

  const connection = await ctx.connection();
  const endedRuns =
    sinceSeconds === undefined
      ? await readEndedRuns(ctx, connection, names)
      : await fetchRunsSince(ctx, connection, sinceSeconds);

  const presentedRuns: PresentedRun[] = [];
  for (const run of endedRuns) {
    const entry = await ctx.journal.find(connection.serviceName, run.runId);
    presentedRuns.push({ run, options: createPresentation(toRunFacts(entry)) });
  }

  const { length: count } = presentedRuns;
  if (to === '-' && (sinceSeconds !== undefined || count !== 1)) {
    throw usageError('--to - takes the output of one run', `You named ${count} runs.`);
  }

  // The number of runs in a period varies, so that its JSON is always a list.
  return sinceSeconds === undefined
    ? presentOneOrMore(ctx, connection, presentedRuns)
    : presentRuns(ctx, connection, presentedRuns);
}

/** Refuses a command line without runs, or with runs that are selected in two ways. */
function requireOneSelection(names: readonly string[], { last, since }: RunsSaveFlags): void {
  const selections = [names.length > 0, last === true, since !== undefined];
  if (selections.filter(Boolean).length === 1) return;
  throw usageError('give either runs, --last or --since <time>', 'See: promptrun runs save --help');
}

/** Prints runs. A single one is not put into a list. */
function presentOneOrMore(
  ctx: Context,
  connection: Connection,
  presentedRuns: readonly PresentedRun[],
): Promise<ExitCode> {
  const [first] = presentedRuns;
  return first !== undefined && presentedRuns.length === 1
    ? presentRun(ctx, connection, first.run, first.options)
    : presentRuns(ctx, connection, presentedRuns);
}

/** Returns the named runs that have ended, each once. */
async function readEndedRuns(
  ctx: Context,
  connection: Connection,
  names: readonly string[],
): Promise<Run[]> {
  const ids = new Set<string>();
  for (const name of names.length === 0 ? [undefined] : names) {
    ids.add(await resolveNamedRun(ctx, connection, name));
  }

  const runs: Run[] = [];
  for (const id of ids) {
    const run = await readRun(ctx, connection, id, 'save');
    if (!isOver(run)) {
      throw usageError(
        `run ${id} is ${toOneLine(run.runStatus)}: there is nothing to save yet`,
        `Wait for it with: ${connection.formatCommand('runs', 'wait', id, '--save')}`,
      );
    }
    runs.push(run);
  }

  return runs;
}

/** Returns the runs of a period that have ended, newest first. Notes the others. */
async function fetchRunsSince(
  ctx: Context,
  { client }: Connection,
  since: number,
): Promise<readonly Run[]> {
  const { signal } = ctx;
  const buffer = createRowBuffer<Run>('runs', '--since');
  for await (const { runId, runStatus } of client.runs.all({ since }, { signal })) {
    if (isOver({ runStatus })) {
      buffer.add([await client.runs.get(runId, { signal })]);
    } else {
      ctx.io.note(`note: run ${toOneLine(runId)} is ${toOneLine(runStatus)} and is not saved`);
    }
  }

  return buffer.rows;
}

/** Waits until runs have ended, then prints them as `run` does, in the order of the arguments. */
export async function waitForRuns(
  ctx: Context,
  names: readonly string[],
  flags: FlagsOf<typeof RUNS_WAIT.flags>,
): Promise<ExitCode> {
  requireRunsOrLast(ctx, names, flags);

  if (names.length > 1 && flags.save === '-') {
    throw usageError('--save - takes the output of one run', `You named ${names.length} runs.`);
  }

  const createPresentation = await createOutputPlan(ctx, flags);
  const connection = await ctx.connection();

  const awaitedRuns =
    names.length === 0
      ? [{ ...(await requireLastRun(ctx, connection)), isServiceId: true }]
      : await Promise.all(names.map(name => findAwaitedRun(ctx, connection, name)));
  const runs = await waitForAll(ctx, connection, awaitedRuns);
  const presentedRuns = runs.map((run, index) => ({
    run,
    options: createPresentation(toRunFacts(awaitedRuns[index]?.entry)),
  }));
  return presentOneOrMore(ctx, connection, presentedRuns);
}

/** A run to wait for, and its journal entry. */
interface AwaitedRun {
  readonly runId: string;
  readonly entry: JournalEntry | undefined;
  readonly recovered: boolean;
  /** True if the service assigned the id, as in the journal; false if the user typed it. */
  readonly isServiceId: boolean;
}

async function findAwaitedRun(
  ctx: Context,
  connection: Connection,
  name: string,
): Promise<AwaitedRun> {
  const runId = await resolveRun(ctx, connection, name);
  const entry = await ctx.journal.find(connection.serviceName, runId);
  return { runId, entry, recovered: entry?.recovered === true, isServiceId: false };
}

async function waitForAll(
  ctx: Context,
  connection: Connection,
  awaitedRuns: readonly AwaitedRun[],
): Promise<Run[]> {
  const progress = startProgress(ctx, { status: 'waiting for the run', pollCount: 0 });
  const onProgress = progress.update;
  try {
    return await Promise.all(
      awaitedRuns.map(async ({ runId, entry, recovered, isServiceId }) => {
        const runPromise = waitForKnownRun(ctx, connection, runId, {
          idFromService: isServiceId,
          onProgress,
        });
        const run = await askOfRun(ctx, connection, { verb: 'wait', runId }, runPromise);
        if (entry !== undefined && entry.outcome !== 'ended') recordEnd(ctx, entry.id, run);
        return recovered ? { ...run, recovered } : run;
      }),
    );
  } finally {
    progress.stop();
  }
}
