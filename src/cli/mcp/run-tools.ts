import { statSync } from 'node:fs';
import path from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isBelow } from '../../files/named-file.ts';
import { unlessAborted, withoutListenerLimit } from '../../utils/abort-signals.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import type { Budget, Reservation } from '../creation/budget.ts';
import { createAndWait, waitForKnownRun } from '../creation/create-and-wait.ts';
import type { CreationRequest } from '../creation/creation-result.ts';
import { describeConfig } from '../inputs/describe-config.ts';
import { checkOptions } from '../inputs/flag-values.ts';
import { type ImageFinder, isImageUrl, openImage } from '../inputs/images/image-source.ts';
import { checkedInputs, openImages, takeNamedImages } from '../inputs/images/place-images.ts';
import { inputText } from '../inputs/json-as-written.ts';
import { buildRunBody, type RunRequest } from '../inputs/request-body.ts';
import { resolveRun } from '../targets/run-name.ts';
import { runResult } from './run-content.ts';
import type { SessionPrompts } from './session-prompts.ts';

export interface ToolCall {
  /** Aborted if the client cancels the call. */
  readonly signal: AbortSignal;
  /** Returns true after the session has ended, and with it the runs of the embedded service. */
  readonly isSessionOver: () => boolean;
  /** Reports progress to the client, if it asked for it. */
  readonly progress: (message: string) => void;
}

/** Interval between progress reports to a client, in milliseconds; the first one comes sooner. */
const PROGRESS_MS = 1000;
const FIRST_PROGRESS_MS = 200;

/** The state that all runs of a session share. */
export interface RunSession {
  readonly ctx: Context;
  readonly offer: SessionPrompts;
  readonly budget: Budget;
}

/** Creates a run of a prompt and waits for it. If the call is cancelled, the run continues. */
export async function runPromptTool(
  { ctx, offer, budget }: RunSession,
  args: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<CallToolResult> {
  const { connection, version, estimatedCredits } = await offer.open(requiredText(args, 'prompt'));
  budget.checkCostCap(connection);
  const fields = describeConfig(version.config);
  const finder = imagesBelow(ctx);
  const images = await openImages(finder, textsArgument(args, 'images'));
  const inputs = await takeNamedImages(fields, { text: textMapArgument(args, 'inputs'), images }, finder);
  const request: RunRequest = {
    promptVersionId: version.promptVersionId,
    ...checkedInputs(fields, inputs),
    options: textMapArgument(args, 'options'),
  };
  await checkOptions(ctx, connection, request.promptVersionId, request.options);
  const body = buildRunBody(request);
  const reservation = await unlessCancelled(
    reserveBudget(budget.reserve(connection, body, { estimatedCredits }), call.signal),
    call.signal,
  );
  const run = createAndFollow(ctx, connection, body, { ...call, reservation });
  return await unlessCancelled(
    run.then(ended => runResult(ctx, connection, ended, budget)),
    call.signal,
  );
}

/** Waits for a reservation in the budget; releases it if the call is cancelled before. */
async function reserveBudget(room: Promise<Reservation>, signal: AbortSignal): Promise<Reservation> {
  const reservation = await room;
  if (signal.aborted) reservation.refused();
  signal.throwIfAborted();
  return reservation;
}

/** Waits for an existing run. */
export async function getRun(
  ctx: Context,
  args: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<CallToolResult> {
  const name = requiredText(args, 'run');
  const isOwn = (await ctx.journal.find('local', name)) !== undefined;
  const connection = isOwn ? await ctx.localConnection() : await ctx.connection();
  const runId = await resolveRun(ctx, connection, name);
  const waiting = { ...ctx, signal: AbortSignal.any([ctx.signal, call.signal]) };
  return await withProgress(ctx, connection, { runId, key: undefined }, call, async () => {
    const run = await waitForKnownRun(waiting, connection, runId, { idFromService: false });
    return await runResult(ctx, connection, run);
  });
}

/** The identity of a run: its id once known, before that the key of its creation. */
interface RunIdentity {
  runId: string | undefined;
  key: string | undefined;
}

async function createAndFollow(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  call: ToolCall & { readonly reservation: Reservation },
): Promise<Run> {
  const identity: RunIdentity = { runId: undefined, key: undefined };
  let lastHint: string | undefined;
  const noteRun = async (): Promise<void> => {
    if (identity.key === undefined) return;
    const isStopped = (call.isSessionOver() || ctx.signal.aborted) && connection.embedded;
    identity.runId ??= await findRunIdByKey(connection, identity.key, ctx.signal).catch(() => undefined);
    const hint = isStopped ? rerunHint(connection, identity.runId) : runHint(connection, identity.runId);
    if (hint !== lastHint) ctx.io.error(hint);
    lastHint = hint;
  };
  return await withProgress(ctx, connection, identity, call, async endSignal => {
    // The run of a cancelled call continues until the session ends. All calls of a session listen to its signal.
    for (const signal of [call.signal, withoutListenerLimit(ctx.signal)]) {
      signal.addEventListener('abort', () => void noteRun(), { signal: endSignal });
    }
    const creation = await createAndWait(ctx, connection, request, {
      reservation: call.reservation,
      waitSignal: call.signal,
      onBegin: async entry => {
        identity.key = entry.id;
      },
      onRunId: runId => {
        identity.runId = runId;
        call.progress(`run ${runId} is running`);
        if (call.signal.aborted) void noteRun();
      },
    });
    if (creation.kind === 'ended') return creation.run;
    throw new Error('a run that was waited for has not ended');
  });
}

function runHint({ advise }: Connection, runId: string | undefined): string {
  return runId === undefined
    ? `note: a call was cancelled; its run may continue, get the latest with: ${advise('runs', 'wait', '--last')}`
    : `note: a call was cancelled; run ${runId} continues, get it with: ${advise('runs', 'wait', runId)}`;
}

function rerunHint({ advise }: Connection, runId: string | undefined): string {
  const again =
    runId === undefined
      ? `look for it with: ${advise('runs', 'list')}`
      : `run it again with: ${advise('runs', 'rerun', runId)}`;
  const run = runId === undefined ? 'a run' : `run ${runId}`;
  return `note: the session has ended; ${run} was stopped and may have been paid for, ${again}`;
}

/** Waits for work on a run, aborts `ended` after it, and reports progress to the client once a second. */
async function withProgress<T>(
  ctx: Context,
  connection: Connection,
  identity: RunIdentity,
  call: ToolCall,
  work: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const workDone = new AbortController();
  const reports = reportProgress(ctx, connection, identity, { ...call, done: workDone.signal });
  try {
    return await work(workDone.signal);
  } finally {
    workDone.abort();
    await reports;
  }
}

async function reportProgress(
  ctx: Context,
  connection: Connection,
  identity: RunIdentity,
  { signal, done, progress }: ToolCall & { readonly done: AbortSignal },
): Promise<void> {
  const endSignal = AbortSignal.any([signal, done, ctx.signal]);
  const began = ctx.clock.now();
  for (let pause = FIRST_PROGRESS_MS; !endSignal.aborted; pause = PROGRESS_MS) {
    await ctx.clock.sleep(pause, endSignal).catch(() => {});
    if (endSignal.aborted) return;
    identity.runId ??= await findRunIdByKey(connection, identity.key, endSignal);
    const seconds = Math.round((ctx.clock.now() - began) / 1000);
    const { runId } = identity;
    const what = runId === undefined ? 'the run is being created' : `run ${runId} is running`;
    progress(`${what} (${seconds} s)`);
  }
}

/** Returns the run of a creation, from a service that keeps creation keys. */
async function findRunIdByKey(
  { client }: Connection,
  key: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (key === undefined || client.keepsIdempotencyKeys !== true) return undefined;
  const page = await client.runs
    .list({ idempotencyKey: key, limit: 1 }, { signal, retries: 0 })
    .catch(() => undefined);
  return page?.rows.find(({ idempotencyKey }) => idempotencyKey === key)?.runId;
}

/** Returns the result of work; throws if the call is cancelled before. */
async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await unlessAborted(work, signal).catch((error: unknown) => {
    throw signal.aborted ? new Error('the call was cancelled') : error;
  });
}

function requiredText(args: Readonly<Record<string, unknown>>, key: string): string {
  const value = args[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw usageError(`${key} is missing`);
}

function textsArgument(args: Readonly<Record<string, unknown>>, key: string): string[] {
  const value = args[key] ?? [];
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value;
  throw usageError(`${key} must be a list of strings`);
}

function textMapArgument(args: Readonly<Record<string, unknown>>, key: string): Map<string, string> {
  const value = args[key] ?? {};
  if (!isJsonObject(value)) throw usageError(`${key} must be an object`);
  return new Map(
    Object.entries(value).map(([name, input]) => {
      const text = typeof input === 'number' || typeof input === 'boolean' ? String(input) : inputText(input);
      if (text === undefined) throw usageError(`the value of ${JSON.stringify(name)} is missing`);
      return [name, text];
    }),
  );
}

/** Returns a finder of images for agents: https URLs and files below the working directory; it refuses all others. */
function imagesBelow(ctx: Context): ImageFinder {
  const { cwd } = ctx;
  return {
    cwd,
    async open(name) {
      const file = path.resolve(cwd, name);
      if (isImageUrl(name) || (name !== '-' && isBelow(cwd, file) && statSync(file).isFile())) {
        return openImage(ctx, name);
      }
      throw usageError(`the image ${JSON.stringify(name)} is not a file below the working directory`);
    },
  };
}
