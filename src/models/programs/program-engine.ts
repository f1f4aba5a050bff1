import { PersistentPrograms } from '../../processes/persistent-programs.ts';
import { collectOutput } from '../../processes/program-output.ts';
import { usesPlaceholder } from '../declared-model.ts';
import {
  createFailedResult,
  createRefusedResult,
  type Engine,
  type EngineResult,
} from '../engine.ts';
import { collectSecrets, maskSecrets } from './mask-secrets.ts';
import { listPromptImages, toMessageValues } from './placeholder-values.ts';
import { createNotStartedResult, type ProgramRun, readProgramResult } from './program-result.ts';
import {
  type ProgramOptions,
  type StartedRunProgram,
  startProgram,
  toProgramFacts,
} from './start-program.ts';

/** Returns the engine that runs programs in models.yaml. */
export function createProgramEngine(options: ProgramOptions): Engine {
  const persistentPrograms = new PersistentPrograms<StartedRunProgram>();
  return {
    async run(job) {
      const { declaration, model } = job.model;
      if (declaration?.kind !== 'program') {
        return createFailedResult(`the model ${model} is not a program`);
      }

      const promptImages = listPromptImages(job);
      if (promptImages.length > 0 && !usesPlaceholder(declaration, 'images')) {
        return createRefusedResult(
          `${model} takes no pictures: its \`program\` has no \${images}`,
          'unfit',
        );
      }

      const programRun = { job, declaration };
      const result = declaration.isPersistent
        ? askPersistentProgram(programRun, persistentPrograms, options)
        : runOnce(programRun, options);
      return maskSecrets(await result, collectSecrets(options.env));
    },
    endPersistentPrograms: () => persistentPrograms.endIdle(),
  };
}

/** Asks a persistent program, and starts it if none is idle. */
async function askPersistentProgram(
  { job, declaration }: ProgramRun,
  persistentPrograms: PersistentPrograms<StartedRunProgram>,
  options: ProgramOptions,
): Promise<EngineResult> {
  const { signal, traceparent } = job;
  try {
    const output = await persistentPrograms.ask({
      key: JSON.stringify([job.model.model, declaration.sourceFolder, declaration.argv]),
      fields: { messages: toMessageValues(job), traceparent },
      limits: { signal, timeoutMs: declaration.timeoutMs },
      start: () => startProgram(job, declaration, options),
      prepare: program => program.folder.replaceFacts(toProgramFacts(job)),
    });
    return await readProgramResult({ job, declaration }, output);
  } catch (error) {
    signal.throwIfAborted();
    return createNotStartedResult({ job, declaration }, error);
  }
}

/** Starts a program for one run, and returns its answer. */
async function runOnce(
  { job, declaration }: ProgramRun,
  options: ProgramOptions,
): Promise<EngineResult> {
  try {
    const program = await startProgram(job, declaration, options);
    try {
      program.tree.child.stdin.end(
        usesPlaceholder(declaration, 'prompt', 'messages') ? '' : program.prompt,
      );
      const output = await collectOutput(program, {
        signal: job.signal,
        timeoutMs: declaration.timeoutMs,
      });
      return await readProgramResult({ job, declaration }, output);
    } finally {
      await program.end();
    }
  } catch (error) {
    job.signal.throwIfAborted();
    return createNotStartedResult({ job, declaration }, error);
  }
}
