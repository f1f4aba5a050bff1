import { NotFoundError } from '../../../client/errors.ts';
import type { Run } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { checkInputs } from '../../inputs/check.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { describeConfig } from '../../inputs/schema/describe.ts';
import { latestOfPrompt } from '../../inputs/target.ts';
import { startProgress } from '../../terminal/spinner.ts';
import type { PreparedRun } from './prepare.ts';

/** A run that was started. */
export type Started =
  | { readonly kind: 'ended'; readonly run: Run; readonly request: RunRequest }
  | { readonly kind: 'going'; readonly runId: string };

/** Starts a run; an id that is not a version's is taken for a prompt's, and its latest version is run. */
export async function startRun(
  ctx: Context,
  prepared: PreparedRun,
  { wait }: { wait: boolean },
): Promise<Started> {
  const { request, connection } = prepared;
  let exists = !prepared.mayBePrompt;
  try {
    return await start(ctx, prepared, { wait, onRunId: () => (exists = true) });
  } catch (error) {
    if (exists || !(error instanceof NotFoundError) || error.httpStatus !== 404) throw error;
  }
  const { promptVersionId, config } = await latestOfPrompt(ctx, connection, request.promptVersionId);
  checkInputs(describeConfig(config), { text: request.text, images: request.images.length });
  const latest = { ...prepared, request: { ...request, promptVersionId } };
  return start(ctx, latest, { wait, onRunId: () => {} });
}

async function start(
  ctx: Context,
  { connection, request }: PreparedRun,
  options: { readonly wait: boolean; readonly onRunId: () => void },
): Promise<Started> {
  const { timeoutMs } = ctx.globals;
  const progress = startProgress(ctx, { status: 'creating the run', polls: 0 });
  try {
    const created = await createAndWait(ctx, connection, buildRunBody(request), {
      ...options,
      timeoutMs,
      onProgress: state => progress.update(state),
    });
    return created.kind === 'ended' ? { ...created, request } : created;
  } finally {
    progress.stop();
  }
}
