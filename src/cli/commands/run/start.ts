import { NotFoundError, PromptServiceError } from '../../../client/errors.ts';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { CliError } from '../../errors.ts';
import { checkInputs } from '../../inputs/check.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { latestOfPrompt } from '../../targets/target.ts';
import { visible } from '../../terminal/sanitise.ts';
import { startProgress } from '../../terminal/spinner.ts';
import type { PreparedRun } from './prepare.ts';

/** A run that was started. */
export type Started =
  | {
      readonly kind: 'ended';
      readonly run: Run;
      readonly request: RunRequest;
      /** What was printed of its text while it was made. */
      readonly printed: string;
    }
  | { readonly kind: 'going'; readonly runId: string };

interface StartOptions {
  /** False gives a run that still goes on back at once. */
  readonly wait: boolean;
  /** Whether text is printed while it is made. */
  readonly stream: boolean;
  readonly budget: Budget | undefined;
}

/** Starts a run; an id that is not a version's is taken for a prompt's, and its latest version is run. */
export async function startRun(ctx: Context, prepared: PreparedRun, options: StartOptions): Promise<Started> {
  const { request, connection } = prepared;
  let exists = !prepared.mayBePrompt;
  try {
    return await start(ctx, prepared, { ...options, onRunId: () => (exists = true) });
  } catch (error) {
    if (exists || !(error instanceof NotFoundError) || error.httpStatus !== 404) throw error;
  }
  const { promptVersionId, config } = await latestOfPrompt(ctx, connection, request.promptVersionId);
  if (prepared.validate) {
    checkInputs(describeConfig(config), request);
  }
  const latest = { ...prepared, request: { ...request, promptVersionId } };
  return start(ctx, latest, { ...options, onRunId: () => {} });
}

async function start(
  ctx: Context,
  { connection, request, estimatedCredits }: PreparedRun,
  options: StartOptions & { readonly onRunId: () => void },
): Promise<Started> {
  const progress = startProgress(ctx, { status: 'creating the run', polls: 0 });
  const live = options.stream ? liveText(ctx, connection, () => progress.stop()) : undefined;
  let startedId: string | undefined;
  try {
    const created = await createAndWait(ctx, connection, buildRunBody(request), {
      ...options,
      estimatedCredits,
      onRunId: runId => {
        startedId = runId;
        options.onRunId();
      },
      onBegin: async entry => live?.begin(entry.id),
      onProgress: state => {
        if (live?.started() !== true) progress.update(state);
      },
    });
    if (created.kind !== 'ended') return created;
    return { ...created, request, printed: (await live?.end()) ?? '' };
  } catch (error) {
    const printed = (await live?.end()) ?? '';
    if (printed !== '' && !printed.endsWith('\n')) await ctx.io.out('\n');
    throw startedId === undefined ? error : await namingRun(connection, error, startedId);
  } finally {
    progress.stop();
  }
}

/** The service refuses to say what became of a run that was started: it is paid for, and can be asked for later. */
async function namingRun({ advise }: Connection, error: unknown, runId: string): Promise<unknown> {
  if (!(error instanceof PromptServiceError)) return error;
  const { failureOf } = await import('../../core/failure.ts');
  const { message, status, exitCode, data, hints } = failureOf(error);
  return new CliError(message, {
    status,
    exitCode,
    data: data ?? { runId },
    hints: [...hints, `The run was started. Get it with: ${advise('runs', 'wait', runId)}`],
    cause: error,
  });
}

/**
 * Prints the text of a run on the terminal, each piece made harmless by itself. `onFirst` is called before the first.
 *
 * @param connection of the embedded service, or nothing is ever printed
 */
function liveText(ctx: Context, connection: Connection, onFirst: () => void) {
  let key: string | undefined;
  let printed = '';
  let printing: Promise<unknown> = Promise.resolve();
  const stop = connection.runsHere?.onText(({ idempotencyKey, text }) => {
    if (key === undefined || idempotencyKey !== key || text === '') return;
    if (printed === '') onFirst();
    printed += text;
    // A closed pipe is found again, and reported, when the rest is printed.
    printing = printing.then(() => ctx.io.out(visible(text))).catch(() => {});
  });
  return {
    /** Takes up the run of the creation that is sent with this key. */
    begin: (creation: string): void => {
      key = creation;
    },
    started: (): boolean => printed !== '',
    /** Stops printing; gives what was printed, as it came. */
    end: async (): Promise<string> => {
      stop?.();
      await printing;
      return printed;
    },
  };
}
