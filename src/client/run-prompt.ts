import { randomUUID } from 'node:crypto';
import { type CreateRunRequest, isOver, isUuid, type Run, type RunInputs } from '../wire/index.ts';
import { GatewayTimeoutError, InvalidRequestError, NotFoundError } from './errors.ts';
import type { Prompts } from './nouns/prompts.ts';
import type { Runs } from './nouns/runs.ts';
import { type PollingClient, type WaitOptions, waitForRun } from './wait-for-run.ts';

export interface RunPromptOptions extends Pick<WaitOptions, 'signal' | 'timeoutMs'> {
  /** Values for the model, such as `quality`. */
  readonly runOptions?: Readonly<Record<string, string>>;
  /** Called once the run's id is known, and on each change of its status. */
  readonly onProgress?: (progress: Pick<Run, 'runId' | 'runStatus'>) => void;
}

/** The part of a client that `runPrompt` needs; `PromptService` has it. */
interface RunPromptClient extends PollingClient {
  readonly runs: Runs;
  readonly prompts: Prompts;
}

/** See `PromptService.run`. */
export async function runPrompt(
  service: RunPromptClient,
  target: string,
  inputs: RunInputs | Readonly<Record<string, string>>,
  { runOptions, onProgress, signal, timeoutMs }: RunPromptOptions,
): Promise<Run> {
  let reportedStatus: string | undefined;
  const report = ({ runId, runStatus }: Run): void => {
    if (runStatus !== reportedStatus) onProgress?.({ runId, runStatus });
    reportedStatus = runStatus;
  };

  const request = {
    inputs: toRunInputs(inputs),
    ...(runOptions && { runOptions: { ...runOptions } }),
  };
  const run = await createForTarget(service, target, request, signal);
  report(run);
  if (isOver(run)) return run;

  return await waitForRun(service, run.runId, {
    signal,
    timeoutMs,
    idFromService: true,
    delayFirst: true,
    onPoll: ({ run: polled }) => polled && report(polled),
  });
}

/** Creates the run. If the service stops waiting for its end, returns it as running. */
async function createForTarget(
  service: RunPromptClient,
  target: string,
  request: Omit<CreateRunRequest, 'promptVersionId'>,
  signal: AbortSignal | undefined,
): Promise<Run> {
  const create = (promptVersionId: string): Promise<Run> =>
    service.runs.create({ promptVersionId, ...request }, { idempotencyKey: randomUUID(), signal });
  try {
    if (!isUuid(target)) return await create(await requireLatestVersion(service, target, signal));

    const runOfVersion = await create(target).catch((error: unknown) => {
      if (error instanceof NotFoundError && error.httpStatus === 404) return undefined;
      throw error;
    });
    if (runOfVersion !== undefined) return runOfVersion;

    // The id may be that of a prompt instead of a version.
    const { promptVersionId } = await service.prompts.get(target, { signal });
    return await create(promptVersionId);
  } catch (error) {
    if (!(error instanceof GatewayTimeoutError)) throw error;
    return { runId: error.runId, runStatus: 'running', outputs: [], tokens: 0 };
  }
}

/**
 * Wraps a flat map of texts. Such a map may have an input called `textInputs`, so the value's type
 * decides.
 */
function toRunInputs(inputs: RunInputs | Readonly<Record<string, string>>): RunInputs {
  const isRunInputs =
    typeof inputs['textInputs'] === 'object' || Array.isArray(inputs['imageInputs']);
  return isRunInputs ? inputs : { textInputs: { ...(inputs as Record<string, string>) } };
}

async function requireLatestVersion(
  service: RunPromptClient,
  slug: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { rows } = await service.prompts.search(slug, { signal });
  const prompt = rows.find(row => row.slug === slug.trim());
  if (prompt !== undefined) return prompt.promptVersionId;
  throw new InvalidRequestError(`the prompt ${JSON.stringify(slug)} does not exist`);
}
