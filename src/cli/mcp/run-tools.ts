import { statSync } from 'node:fs';
import path from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isBelow } from '../../files/named-file.ts';
import { rejectWhenAborted } from '../../utils/abort-signals.ts';
import type { PromptVersion } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { waitForKnownRun } from '../creation/create-and-wait.ts';
import type { Budget, Reservation } from '../creation/spending/budget.ts';
import { checkOptions } from '../inputs/flag-values.ts';
import { type ImageOpener, isImageUrl, openImage } from '../inputs/images/image-source.ts';
import { openImages, openNamedImages, placeAndCheckInputs } from '../inputs/images/place-images.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { buildRunBody, type RunRequest } from '../inputs/request-body.ts';
import { resolveRun } from '../targets/run-name.ts';
import { createAndFollow, type ToolCall, withProgress } from './follow-run.ts';
import { buildRunResult } from './run-content.ts';
import type { SessionPrompts } from './session-prompts.ts';
import {
  readTextMapArgument,
  readTextsArgument,
  requireTextArgument,
  type ToolArguments,
} from './tool-arguments.ts';

/** The state that all runs of a session share. */
export interface RunSession {
  readonly ctx: Context;
  readonly prompts: SessionPrompts;
  readonly budget: Budget;
}

/** Creates a run of a prompt and waits for it. If the call is cancelled, the run continues. */
export async function runPromptTool(
  { ctx, prompts, budget }: RunSession,
  args: ToolArguments,
  call: ToolCall,
): Promise<CallToolResult> {
  const name = requireTextArgument(args, 'prompt');
  const { connection, version, estimatedCredits } = await prompts.open(name);
  budget.checkCostCap(connection);

  const request = await readRunRequest(ctx, version, args);
  await checkOptions(ctx, connection, request);

  const body = buildRunBody(request);
  const reservation = await rejectIfCancelled(
    releaseIfCancelled(budget.reserve(connection, body, { estimatedCredits }), call.signal),
    call.signal,
  );
  const result = createAndFollow(ctx, connection, body, { ...call, reservation }).then(run =>
    buildRunResult(ctx, connection, run, budget),
  );
  return await rejectIfCancelled(result, call.signal);
}

async function readRunRequest(
  ctx: Context,
  { promptVersionId, config }: PromptVersion,
  args: ToolArguments,
): Promise<RunRequest> {
  const fields = readInputFields(config);
  const imageOpener = createAgentImageOpener(ctx);
  const images = await openImages(imageOpener, readTextsArgument(args, 'images'));
  const text = readTextMapArgument(args, 'inputs');
  const inputs = await openNamedImages(fields, { text, images }, imageOpener);

  return {
    promptVersionId,
    ...placeAndCheckInputs(fields, inputs),
    options: readTextMapArgument(args, 'options'),
  };
}

/**
 * Waits for a reservation in the budget. Releases it and throws if the call was cancelled
 * meanwhile.
 */
async function releaseIfCancelled(
  pendingReservation: Promise<Reservation>,
  signal: AbortSignal,
): Promise<Reservation> {
  const reservation = await pendingReservation;
  if (signal.aborted) reservation.release();
  signal.throwIfAborted();
  return reservation;
}

/** Waits for an existing run. */
export async function getRun(
  ctx: Context,
  args: ToolArguments,
  call: ToolCall,
): Promise<CallToolResult> {
  const name = requireTextArgument(args, 'run');
  const isEmbeddedRun = (await ctx.journal.find('local', name)) !== undefined;
  const connection = isEmbeddedRun ? await ctx.localConnection() : await ctx.connection();
  const runId = await resolveRun(ctx, connection, name);
  const callCtx = { ...ctx, signal: AbortSignal.any([ctx.signal, call.signal]) };

  return await withProgress({ ctx, connection, call, runId }, async () => {
    const run = await waitForKnownRun(callCtx, connection, runId, { idFromService: false });
    return await buildRunResult(ctx, connection, run);
  });
}

/** Returns the result of work. Throws as soon as the call is cancelled. */
async function rejectIfCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await rejectWhenAborted(work, signal).catch((error: unknown) => {
    throw signal.aborted ? new Error('the call was cancelled') : error;
  });
}

/**
 * Returns an opener of images for agents: https URLs and files below the working directory; it
 * refuses all others.
 */
function createAgentImageOpener(ctx: Context): ImageOpener {
  const { cwd } = ctx;
  return {
    cwd,
    async open(name) {
      if (isImageUrl(name) || isFileBelow(cwd, name)) return openImage(ctx, name);
      throw usageError(
        `the image ${JSON.stringify(name)} is not a file below the working directory`,
      );
    },
  };
}

/** Returns false for `-` too, since standard input belongs to the protocol. */
function isFileBelow(directory: string, name: string): boolean {
  const file = path.resolve(directory, name);
  return name !== '-' && isBelow(directory, file) && statSync(file).isFile();
}
