import { toTextOrJson } from '../../../files/formats/json-fields.ts';
import type { EngineJob, JobInputs, PromptJob } from '../../../models/engine.ts';
import type { ModelEntry } from '../../../models/model-entry.ts';
import type { PromptDefinition } from '../../../prompts/definition.ts';
import { changesAnswer, isJsonOutput } from '../../../prompts/render/check-output.ts';
import type { LoadedImage } from '../../../prompts/render/loaded-image.ts';
import { type RenderedPrompt, renderPrompt } from '../../../prompts/render/render-prompt.ts';
import type { PromptTasks } from '../../../prompts/tasks/prompt-tasks.ts';
import type { Clock } from '../../core/clock.ts';
import type { Idempotency, QueuedRun } from '../../store/runs/run-records.ts';
import type { InputFiles } from '../input-files.ts';
import { mergeSettings } from '../run-request.ts';
import type { TextFeed } from './text-feed.ts';

const NO_INPUTS: JobInputs = { texts: {}, values: {} };

/** A run that was created here or comes from the queue. */
export type ExecutedRun = QueuedRun & { readonly idempotency?: Idempotency | undefined };

/** The parts of the service that a job needs. */
export interface JobSources {
  tasks: PromptTasks;
  inputFiles: InputFiles;
  textFeed: TextFeed;
  readonly clock: Clock;
  /** Describes images for engines that take only text. */
  describeImage: (image: LoadedImage) => string | Promise<string>;
}

/** Reads the inputs of a run and renders its prompt. */
export async function buildEngineJob(
  { inputFiles, textFeed, tasks, clock, describeImage }: JobSources,
  run: ExecutedRun,
  { definition, model }: { readonly definition: PromptDefinition; readonly model: ModelEntry },
  signal: AbortSignal,
): Promise<EngineJob> {
  const { images, runOptions, traceparent } = run.request;
  const taskOptions = { userId: run.userId, signal };
  const textInputs = await inputFiles.readTexts(run.id, run.request);
  const inputImages = images.length > 0 ? await inputFiles.readImages(run.id, images) : [];
  const prompt = await renderPrompt(
    definition,
    { textInputs, images: inputImages },
    { render: work => tasks.run('render', work, taskOptions), describe: describeImage },
  );

  return {
    ...buildPromptRequest(definition, model, prompt, runOptions),
    runId: run.id,
    traceparent,
    inputs: model.declaration
      ? await readJobInputs(definition, textInputs, tasks, taskOptions)
      : NO_INPUTS,
    selectValues: (text, expressions) => tasks.run('select', { text, expressions }, taskOptions),
    // A checked answer may differ from the streamed text.
    onText: changesAnswer(definition.output) ? undefined : textFeed.createEmitter(run),
    signal,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

/** Returns the part of a job that its request to a provider is built from. */
export function buildPromptRequest(
  { config, output }: Pick<PromptDefinition, 'config' | 'output'>,
  model: ModelEntry,
  prompt: RenderedPrompt,
  runOptions: Readonly<Record<string, string>>,
): Pick<PromptJob, 'model' | 'prompt' | 'runOptions' | 'json'> {
  return {
    model,
    prompt,
    runOptions: mergeSettings({ config }, runOptions, model),
    json: isJsonOutput(output) ? { schema: output.schema, schemaName: output.named } : undefined,
  };
}

async function readJobInputs(
  { textInputs, input }: PromptDefinition,
  sentTexts: Readonly<Record<string, string>>,
  tasks: PromptTasks,
  taskOptions: { readonly userId: number; readonly signal: AbortSignal },
): Promise<JobInputs> {
  const values = await tasks.run(
    'readTexts',
    { definition: { textInputs, input }, texts: sentTexts },
    taskOptions,
  );

  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(values)) {
    texts[key] = sentTexts[key] ?? toTextOrJson(value);
  }

  return { texts, values };
}
