import type { Clock } from '../clock.ts';
import { type EngineOutput, type EngineResult, failedWith } from '../engines/engine.ts';
import type { Engines } from '../engines/index.ts';
import type { Media } from '../media/media.ts';
import type { ModelEntry } from '../models/index.ts';
import type { Definitions } from '../prompts/definitions.ts';
import { renderPrompt } from '../prompts/index.ts';
import type { StoredMedia } from '../store/media-store.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { Outcome, StoredOutput } from '../store/run-records.ts';
import { messageOf } from '../thrown.ts';
import type { InputFiles } from './input-files.ts';

export interface ExecutorOptions {
  definitions: Definitions;
  models: { get(name: string): ModelEntry | undefined };
  engines: Engines;
  inputs: InputFiles;
  media: Media;
  clock: Clock;
}

/** Carries a run out: its inputs, its prompt, its model's engine, its outputs. */
export interface Executor {
  /** undefined only if the signal stopped it; every other fault is an outcome. */
  execute(run: QueuedRun, signal: AbortSignal): Promise<Outcome | undefined>;
  /** Deletes what was kept in case the run had to be started again. */
  forget(run: QueuedRun): Promise<void>;
  forgetInputs(runId: string): Promise<void>;
}

export function createExecutor(options: ExecutorOptions): Executor {
  const { inputs, media } = options;
  return {
    async execute(run, signal) {
      try {
        const result = await runEngine(options, run, signal);
        return await keepOutputs(media, run.id, result);
      } catch (error) {
        if (signal.aborted) return undefined;
        return await keepOutputs(
          media,
          run.id,
          failedWith(`the run could not be carried out: ${messageOf(error)}`),
        );
      }
    },
    forget: async run => {
      if (run.request.images.length > 0) await inputs.remove(run.id);
    },
    forgetInputs: runId => inputs.remove(runId),
  };
}

async function runEngine(
  options: ExecutorOptions,
  run: QueuedRun,
  signal: AbortSignal,
): Promise<EngineResult> {
  const { definitions, models, engines, inputs, clock } = options;
  const { textInputs, images, runOptions } = run.request;
  const definition = await definitions.ofRun(run.promptVersionId);
  const model = models.get(definition.model);
  if (!model) return failedWith(`the model ${definition.model} is no longer available`);
  const loaded = images.length > 0 ? await inputs.load(run.id, images) : [];
  const prompt = await renderPrompt(definition, { textInputs, images: loaded });
  return await engines[model.engine].run({
    model,
    prompt,
    runOptions: { ...definition.config, ...runOptions },
    signal,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
}

async function keepOutputs(media: Media, runId: string, result: EngineResult): Promise<Outcome> {
  const kept = await Promise.all(result.outputs.map(output => keepOutput(media, runId, output)));
  return {
    status: result.failed ? 'failed' : 'succeeded',
    outputs: kept.map(({ output }) => output),
    tokens: result.tokens,
    media: kept.flatMap(({ made }) => made ?? []),
  };
}

async function keepOutput(
  media: Media,
  runId: string,
  output: EngineOutput,
): Promise<{ output: StoredOutput; made?: StoredMedia }> {
  if (output.type === 'text') return { output: { type: 'text', data: output.text } };
  if (output.type === 'error') return { output: { type: 'error', data: output.message } };
  const { type, bytes, mediaType } = output;
  const made = await media.save(runId, bytes, mediaType);
  return { output: { type, media: made.id, mediaType, createdAt: made.createdAt }, made };
}
