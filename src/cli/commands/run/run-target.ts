import { NotFoundError, PromptServiceError, ValidationError } from '../../../client/errors.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import type { CreatedRun } from '../../creation/creation-result.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { checkInputs } from '../../inputs/check-inputs.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { createOutputPlan, presentRun, printResult } from '../../outputs/present-run.ts';
import { printValue } from '../../outputs/print-json.ts';
import { fetchLatestVersion } from '../../targets/resolve-target.ts';
import { escapeControls, toOneLine } from '../../terminal/sanitise.ts';
import { startProgress } from '../../terminal/spinner.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import type { RunFlags } from './run-argv.ts';

/** Creates a run of a target, waits for it and prints its outputs. */
export async function runTarget(
  ctx: Context,
  target: string | undefined,
  flags: RunFlags,
): Promise<ExitCode> {
  if (flags.dryRun === true) ctx.io.commentNotes();
  const budget = await createBudget(ctx, flags);
  const createPresentation = await createOutputPlan(ctx, flags);

  const preparedRun = await prepareRun(ctx, target, flags, budget);
  if (flags.dryRun === true) {
    await budget?.checkPrice(preparedRun.connection, buildRunBody(preparedRun.request));
    const { printDryRun } = await import('./dry-run.ts');
    return printDryRun(ctx, preparedRun, flags);
  }

  if (!flags.wait) await preparedRun.connection.inProcessRuns?.detach();
  const startedAt = ctx.clock.now();
  const startedRun = await startRun(ctx, preparedRun, {
    wait: flags.wait,
    stream: shouldStream(ctx, flags),
    budget,
  }).catch(async (error: unknown) => {
    throw await withRefusalHint(error, preparedRun, target);
  });
  if (!flags.wait) return printRunId(ctx, preparedRun.connection, startedRun);
  if (startedRun.kind === 'running') throw new Error('a run that was waited for has not ended');

  if (ctx.isReplay) ctx.io.note('note: the answer comes from a recording');
  const { run, request, streamedText } = startedRun;
  const facts = { request, startedAt, endedAt: ctx.clock.now() };
  return printResult(ctx, { runId: run.runId, connection: preparedRun.connection }, out =>
    presentRun(out, preparedRun.connection, run, { ...createPresentation(facts), streamedText }),
  );
}

/**
 * Adds to a refusal the command that shows the target's inputs, or the models' options. Leaves it
 * unchanged if the model has a fault of its own, such as a missing key.
 */
async function withRefusalHint(
  error: unknown,
  { connection, request }: PreparedRun,
  target: string | undefined,
): Promise<unknown> {
  if (!(error instanceof ValidationError) || target === undefined) return error;
  if (await connection.costs?.findAccessFault(request.promptVersionId)) return error;

  const { formatCommand } = connection;
  const { toFailure } = await import('../../core/failure.ts');
  const { message, ...failure } = toFailure(error);
  const isOptionRefused = error.message.startsWith('runOptions');
  const hints = [
    isOptionRefused
      ? `List the options of each model with: ${formatCommand('resources', 'list')}`
      : `Show its inputs with: ${formatCommand('prompts', 'get', target)}`,
  ];

  return new CliError(message, { ...failure, hints, cause: error });
}

/** Returns the budget of a run; undefined without a cap. */
async function createBudget(ctx: Context, flags: RunFlags): Promise<Budget | undefined> {
  if (flags.maxCost === undefined && flags.maxCredits === undefined) return undefined;
  const [{ Budget }, { parseCaps }] = await Promise.all([
    import('../../creation/spending/budget.ts'),
    import('../../creation/spending/caps.ts'),
  ]);
  return new Budget(ctx, parseCaps(flags));
}

/** Returns true if text is printed as it arrives, which is only done on a terminal. */
function shouldStream({ io, globals }: Context, { stream, wait, save }: RunFlags): boolean {
  const isText = !globals.json && save !== '-';
  return stream && wait && isText && io.stdout.isTerminal;
}

/** Prints only the id of a run for `--no-wait`, even if it has ended. */
async function printRunId(
  ctx: Context,
  connection: Connection,
  startedRun: StartedRun,
): Promise<ExitCode> {
  const { runId, runStatus, recovered } = startedRun.kind === 'ended' ? startedRun.run : startedRun;
  return printResult(ctx, { runId, connection }, async out => {
    if (out.globals.json) {
      await printValue(out, { runId, runStatus, ...(recovered === true && { recovered }) });
    } else {
      await out.io.out(`${out.io.stdout.isTerminal ? toOneLine(runId) : runId}\n`);
    }
    return runStatus === 'failed' ? EXIT.runFailed : EXIT.ok;
  });
}

export type StartedRun =
  | {
      readonly kind: 'ended';
      readonly run: CreatedRun;
      readonly request: RunRequest;
      /** The text that was printed as it arrived. */
      readonly streamedText: string;
    }
  | {
      readonly kind: 'running';
      readonly runId: string;
      readonly runStatus: string;
      readonly recovered: boolean;
    };

interface StartOptions {
  /** False to return immediately while the run continues. */
  readonly wait: boolean;
  /** True to print text as it arrives. */
  readonly stream: boolean;
  readonly budget: Budget | undefined;
}

/**
 * Starts a run. If the service knows no version of the requested id, tries it as the id of a prompt,
 * and runs the prompt's latest version.
 */
async function startRun(
  ctx: Context,
  preparedRun: PreparedRun,
  options: StartOptions,
): Promise<StartedRun> {
  let isVersion = !preparedRun.mayBePrompt;
  try {
    return await startVersionRun(ctx, preparedRun, {
      ...options,
      onRunId: () => (isVersion = true),
    });
  } catch (error) {
    if (isVersion || !(error instanceof NotFoundError) || error.httpStatus !== 404) throw error;
    return await startLatestVersion(ctx, preparedRun, options, error);
  }
}

/** Starts a run of a prompt's latest version, after the service refused its id as a version's. */
async function startLatestVersion(
  ctx: Context,
  preparedRun: PreparedRun,
  options: StartOptions,
  refusal: NotFoundError,
): Promise<StartedRun> {
  const { request, connection, validate } = preparedRun;
  const { promptVersionId, config } = await fetchLatestVersion(
    ctx,
    connection,
    request.promptVersionId,
  ).catch(async (error: unknown) => {
    throw await withRefusalDetails(error, refusal);
  });
  if (validate) checkInputs(readInputFields(config), request);
  const latestRun = { ...preparedRun, request: { ...request, promptVersionId } };

  return startVersionRun(ctx, latestRun, { ...options, onRunId: () => {} });
}

/** Adds the `data` of a service's refusal to the error that is reported instead. */
async function withRefusalDetails(error: unknown, refusal: NotFoundError): Promise<unknown> {
  if (!(error instanceof CliError)) return error;
  const { toFailure } = await import('../../core/failure.ts');
  const { message, ...failure } = toFailure(error);
  const { data, details } = toFailure(refusal);
  return new CliError(message, { ...failure, data, details, cause: refusal });
}

async function startVersionRun(
  ctx: Context,
  { connection, request, estimatedCredits }: PreparedRun,
  options: StartOptions & { readonly onRunId: () => void },
): Promise<StartedRun> {
  const progress = startProgress(ctx, { status: 'creating the run', pollCount: 0 });
  const liveText = options.stream
    ? startLiveText(ctx, connection, () => progress.stop())
    : undefined;

  let startedRunId: string | undefined;
  try {
    const creation = await createAndWait(ctx, connection, buildRunBody(request), {
      ...options,
      estimatedCredits,
      onRunId: runId => {
        startedRunId = runId;
        options.onRunId();
      },
      onBegin: async entry => liveText?.follow(entry.id),
      onProgress: state => {
        if (liveText?.hasPrinted() !== true) progress.update(state);
      },
    });
    if (creation.kind !== 'ended') return creation;
    return { ...creation, request, streamedText: (await liveText?.stop()) ?? '' };
  } catch (error) {
    const streamedText = (await liveText?.stop()) ?? '';
    if (streamedText !== '' && !streamedText.endsWith('\n')) await ctx.io.out('\n');
    throw startedRunId === undefined ? error : await withRunId(connection, error, startedRunId);
  } finally {
    progress.stop();
  }
}

/**
 * Adds the run id to an error that hides the result of a started run: it is paid for and can be
 * fetched later.
 */
async function withRunId(
  { formatCommand }: Connection,
  error: unknown,
  runId: string,
): Promise<unknown> {
  if (!(error instanceof PromptServiceError)) return error;
  const { toFailure } = await import('../../core/failure.ts');
  const { message, status, exitCode, data, hints, details } = toFailure(error);

  return new CliError(message, {
    status,
    exitCode,
    data: data ?? { runId },
    details,
    hints: [...hints, `The run was started. Get it with: ${formatCommand('runs', 'wait', runId)}`],
    cause: error,
  });
}

/**
 * Prints the text of a run on the terminal as it arrives, with each piece sanitised.
 *
 * @param onFirstText is called before the first piece is printed
 * @param connection must be the embedded service's, or nothing is printed
 */
function startLiveText(ctx: Context, connection: Connection, onFirstText: () => void) {
  let followedKey: string | undefined;
  let printedText = '';
  let lastWrite: Promise<unknown> = Promise.resolve();
  const unsubscribe = connection.inProcessRuns?.onText(({ idempotencyKey, text }) => {
    if (followedKey === undefined || idempotencyKey !== followedKey || text === '') return;
    if (printedText === '') onFirstText();
    printedText += text;
    // Printing the rest will find and report a closed pipe again.
    lastWrite = lastWrite.then(() => ctx.io.out(escapeControls(text))).catch(() => {});
  });

  return {
    /** Starts to follow the run of the creation with this key. */
    follow: (idempotencyKey: string): void => {
      followedKey = idempotencyKey;
    },
    hasPrinted: (): boolean => printedText !== '',
    /** Stops printing; returns the printed text, unsanitised. */
    stop: async (): Promise<string> => {
      unsubscribe?.();
      await lastWrite;
      return printedText;
    },
  };
}
