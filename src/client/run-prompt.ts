import { randomUUID } from 'node:crypto';
import { isOver, isUuid, type Run, type RunInputs } from '../wire/index.ts';
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
  const create = (promptVersionId: string): Promise<Run> =>
    service.runs.create(
      { promptVersionId, inputs: asRunInputs(inputs), ...(runOptions && { runOptions: { ...runOptions } }) },
      { idempotencyKey: randomUUID(), signal },
    );
  let status: string | undefined;
  const report = ({ runId, runStatus }: Pick<Run, 'runId' | 'runStatus'>): void => {
    if (runStatus !== status) onProgress?.({ runId, runStatus });
    status = runStatus;
  };
  const wait = (runId: string): Promise<Run> =>
    waitForRun(service, runId, {
      signal,
      timeoutMs,
      idFromService: true,
      delayFirst: true,
      onPoll: ({ run }) => run && report(run),
    });
  try {
    const version = isUuid(target) ? target : await latestOfSlug(service, target, signal);
    const run = await create(version).catch(async (error: unknown) => {
      if (!isUuid(target) || !(error instanceof NotFoundError) || error.httpStatus !== 404) throw error;
      const { promptVersionId } = await service.prompts.get(target, { signal });
      return create(promptVersionId);
    });
    report(run);
    return isOver(run) ? run : await wait(run.runId);
  } catch (error) {
    if (!(error instanceof GatewayTimeoutError)) throw error;
    const { runId } = error;
    report({ runId, runStatus: 'running' });
    return wait(runId);
  }
}

/** Wraps a flat map of texts. Such a map may have an input called `textInputs`, so the value's type decides. */
function asRunInputs(inputs: RunInputs | Readonly<Record<string, string>>): RunInputs {
  const isWhole = typeof inputs['textInputs'] === 'object' || Array.isArray(inputs['imageInputs']);
  return isWhole ? inputs : { textInputs: { ...(inputs as Record<string, string>) } };
}

async function latestOfSlug(
  service: RunPromptClient,
  slug: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { rows } = await service.prompts.search(slug, { signal });
  const prompt = rows.find(row => row.slug === slug.trim());
  if (prompt !== undefined) return prompt.promptVersionId;
  throw new InvalidRequestError(`the prompt ${JSON.stringify(slug)} does not exist`);
}
