import { usesPlaceholder } from '../declared-model.ts';
import { type Engine, type EngineResult, failedWith, refusedWith } from '../engine.ts';
import { KeptPrograms } from './kept-programs.ts';
import { maskSecrets, secretsIn } from './mask-secrets.ts';
import { promptImages } from './placeholder-values.ts';
import { collectOutput } from './program-output.ts';
import { type AskedProgram, notStarted, programResult } from './program-result.ts';
import { type ProgramOptions, startProgram } from './start-program.ts';

/** Returns the engine that runs programs in models.yaml. */
export function programEngine(options: ProgramOptions): Engine {
  const kept = new KeptPrograms(options);
  return {
    async run(job) {
      const { declared, model } = job.model;
      if (declared?.kind !== 'program') return failedWith(`the model ${model} is not a program`);
      const pictures = promptImages(job);
      if (pictures.length > 0 && !usesPlaceholder(declared, 'images')) {
        return refusedWith(`${model} takes no pictures: its \`program\` has no \${images}`, 'unfit');
      }
      const asked = { job, declared };
      const result = declared.isKept ? kept.ask(asked) : runOnce(asked, options);
      return maskSecrets(await result, secretsIn(options.env));
    },
    close: () => kept.close(),
  };
}

/** Starts a program for one run, and returns its answer. */
async function runOnce({ job, declared }: AskedProgram, options: ProgramOptions): Promise<EngineResult> {
  try {
    const program = await startProgram(job, declared, options);
    try {
      program.tree.child.stdin.end(usesPlaceholder(declared, 'prompt', 'messages') ? '' : program.prompt);
      const output = await collectOutput(program, { signal: job.signal, timeoutMs: declared.timeoutMs });
      return await programResult({ job, declared }, output);
    } finally {
      await program.end();
    }
  } catch (error) {
    job.signal.throwIfAborted();
    return notStarted({ job, declared }, error);
  }
}
