import { calculateCharge } from '../../../models/catalogue/charge.ts';
import {
  createFailedResult,
  createRefusedResult,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
} from '../../../models/engine.ts';
import type { Engines } from '../../../models/engines.ts';
import {
  describeShutdown,
  findNearShutdown,
  type ModelEntry,
} from '../../../models/model-entry.ts';
import type { BatchAnswer } from '../../../models/provider-batches/batch-provider.ts';
import type { PromptDefinition } from '../../../prompts/definition.ts';
import { type CheckedOutput, changesAnswer } from '../../../prompts/render/check-output.ts';
import type { PromptTasks, TaskOptions } from '../../../prompts/tasks/prompt-tasks.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { LimitExceededError } from '../../../utils/limit-exceeded.ts';
import type { Definitions } from '../../prompts/definitions.ts';
import type { RunOutcome } from '../../store/runs/run-records.ts';
import { isStoreUnavailable } from '../../store/store-errors.ts';
import { buildEngineJob, type ExecutedRun, type JobSources } from './engine-job.ts';
import { stoppedRunError } from './stopped-run.ts';
import { type ChargedResult, type OutcomeStorage, storeOutcome } from './store-outcome.ts';
import { UNSTORED_REASON, type UnstoredRuns } from './unstored-runs.ts';

export interface ExecutorOptions extends OutcomeStorage, JobSources {
  definitions: Definitions;
  models: { get(name: string): ModelEntry | undefined };
  engines: Engines;
  /** Answers from provider batches, by the keys of their creations. */
  batchAnswers: ReadonlyMap<string, BatchAnswer>;
  unstoredRuns: UnstoredRuns;
  /**
   * True to drop the request of a run that failed before its model was asked, and so cost nothing.
   */
  forgetsUnaskedRequests: boolean;
  /** Returns false if programs must not run, because several users share the service. */
  allowsPrograms: () => Promise<boolean>;
  /** The ids of runs whose programs are running, which must not be started again. */
  programRunIds: Set<string>;
  /** Called with notices for users, one line each. */
  onNotice: (line: string) => void;
}

/**
 * Carries out a run: reads its inputs, renders its prompt, asks its model's engine and stores its
 * outputs. Returns undefined if the signal stopped it, or the database or the object store became
 * unavailable first; every other fault is an outcome.
 */
export type Executor = (run: ExecutedRun, signal: AbortSignal) => Promise<RunOutcome | undefined>;

export function createExecutor(options: ExecutorOptions): Executor {
  const onNotice = createOnceReporter(options.onNotice);
  return async (run, signal) => {
    const progress: ExecutionProgress = { mayHaveAsked: false };

    const storeResult = async (result: ChargedResult): Promise<RunOutcome> => {
      const outcome = await storeOutcome(options, run.id, result, signal);
      const isUnasked = !progress.mayHaveAsked || !hasReachedModel(result);
      const forgetsRequest =
        options.forgetsUnaskedRequests && isUnasked && outcome.status === 'failed';
      return forgetsRequest ? { ...outcome, forgetsRequest } : outcome;
    };

    try {
      return await storeResult(await runEngine({ ...options, onNotice }, run, progress, signal));
    } catch (error) {
      if (signal.aborted || isStoreUnavailable(error)) return undefined;
      const message = `the run could not be executed: ${getErrorMessage(error)}`;
      return await storeResult(createFailedResult(message));
    }
  };
}

interface ExecutionProgress {
  /** True once this process or an earlier one may have asked the model. */
  mayHaveAsked: boolean;
}

/** Renders the prompt, asks the model's engine and checks its answer. */
async function runEngine(
  options: ExecutorOptions,
  run: ExecutedRun,
  progress: ExecutionProgress,
  signal: AbortSignal,
): Promise<ChargedResult> {
  const { definitions, models, engines, tasks } = options;

  if (options.unstoredRuns.has(run.id)) {
    progress.mayHaveAsked = true;
    return createFailedResult(UNSTORED_REASON);
  }

  const definition = await definitions.getByVersionId(run.promptVersionId);
  const model = models.get(definition.model);
  if (!model) return createFailedResult(`the model ${definition.model} is no longer available`);

  reportModelNotes(model, options);
  const isProgram = model.engine === 'program';
  const refusal = isProgram ? await findProgramRefusal(options, run) : undefined;
  if (refusal !== undefined) return refusal;

  const job = await buildEngineJob(options, run, { definition, model }, signal);
  const batchAnswer = run.idempotency && options.batchAnswers.get(run.idempotency.key);
  progress.mayHaveAsked = true;
  if (isProgram) options.programRunIds.add(run.id);
  const result = batchAnswer
    ? await readBatchResult(engines, job, batchAnswer)
    : await engines[model.engine].run(job);

  const charge = await calculateCharge(model, result, {
    runOptions: job.runOptions,
    providerBatch: batchAnswer !== undefined,
  });
  const checkedResult = await checkResult(result, definition, tasks, {
    userId: run.userId,
    signal,
  });
  return { ...checkedResult, charge };
}

/** Reports that a model is only guessed, or will soon be shut down. */
function reportModelNotes(model: ModelEntry, { clock, onNotice }: ExecutorOptions): void {
  if (model.guessedFrom === 'key') onNotice(describeGuess(model));
  const shutdown = findNearShutdown(model, clock.now());
  if (shutdown) onNotice(describeShutdown(shutdown));
}

/** Returns the result of a run of a program that must not start; undefined if it may. */
async function findProgramRefusal(
  { allowsPrograms, onNotice }: Pick<ExecutorOptions, 'allowsPrograms' | 'onNotice'>,
  { id, deaths = 0 }: ExecutedRun,
): Promise<EngineResult | undefined> {
  if (deaths > 0) return createFailedResult(stoppedRunError(id, 'the end of its service', 'serve'));
  if (await allowsPrograms()) return undefined;
  onNotice(
    'the run of a program was refused, since there are several users; to run programs, start with --allow-programs',
  );

  return createRefusedResult(
    'programs are not run here, since this service has several users',
    'unfit',
  );
}

/** Reads the result of a run from its answer in a provider batch. */
async function readBatchResult(
  engines: Engines,
  job: EngineJob,
  answer: BatchAnswer,
): Promise<EngineResult> {
  if ('body' in answer) {
    const result = await engines[job.model.engine].readBatchAnswer?.(job, answer.body);
    return result ?? createFailedResult('no answer');
  }

  return {
    ...createFailedResult(`${job.model.provider?.name}'s batch has no answer: ${answer.fault}`),
    isRefused: true,
  };
}

/**
 * Checks the text of a result. On a mismatch, or if the check takes too long, the unchanged text
 * comes before the fault.
 */
async function checkResult(
  result: EngineResult,
  { output: outputRules }: PromptDefinition,
  tasks: PromptTasks,
  task: TaskOptions,
): Promise<EngineResult> {
  if (result.hasFailed || !changesAnswer(outputRules)) return result;
  const outputs: EngineOutput[] = [];
  let hasFault = false;
  for (const output of result.outputs) {
    if (output.type !== 'text') {
      outputs.push(output);
      continue;
    }

    const { text, fault } = await checkText(output.text, outputRules, tasks, task);
    outputs.push({ type: 'text', text });
    if (fault === undefined) continue;
    outputs.push({ type: 'error', message: fault });
    hasFault = true;
  }

  return { ...result, outputs, hasFailed: hasFault };
}

async function checkText(
  text: string,
  outputRules: PromptDefinition['output'],
  tasks: PromptTasks,
  task: TaskOptions,
): Promise<CheckedOutput> {
  try {
    return await tasks.run('checkOutput', { output: outputRules, text }, task);
  } catch (error) {
    if (error instanceof LimitExceededError) return { text, fault: error.message };
    throw error;
  }
}

/** Returns false if the run had no key, or its provider refused the key or was not reached. */
function hasReachedModel({ isRefused = false, fault }: EngineResult): boolean {
  const isUnreached = fault === 'unauthorised' || fault === 'unreachable';
  return !(isRefused && isUnreached);
}

function describeGuess({ model, provider }: ModelEntry): string {
  const endpoint =
    provider === undefined ? 'your endpoint' : `${provider.name} at ${provider.baseUrl}`;
  return `${model} is treated as a model of ${endpoint}; promptrun models discover writes the models that it has to models.yaml`;
}

function createOnceReporter(onNotice: (line: string) => void): (line: string) => void {
  const reportedLines = new Set<string>();
  return line => {
    if (reportedLines.has(line)) return;
    reportedLines.add(line);
    onNotice(line);
  };
}
