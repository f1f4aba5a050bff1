import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonValue } from '../../files/formats/json.ts';
import type { StartedProgram } from '../../processes/persistent-programs.ts';
import { ProcessTree } from '../../processes/process-tree.ts';
import { withoutKeys } from '../../processes/program-environment.ts';
import type { ProgramStart } from '../../processes/program-line.ts';
import { OutputCollector } from '../../processes/program-output.ts';
import type { DeclaredProgram, ProgramPlaceholder } from '../declared-model.ts';
import type { EngineJob } from '../engine.ts';
import { getProgramRecordsFolder } from './orphaned-programs.ts';
import { createRunValues, listPromptImages, type RunValues } from './placeholder-values.ts';
import { fillText, splitAtPlaceholders } from './placeholders.ts';
import { createRunFolder, RUN_VARIABLE, type RunFolder } from './run-folder.ts';

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The data directory, which records running programs so that a later process ends them if this
   * one is killed.
   */
  readonly dataDir: string;
  /** The absolute folder in which programs start, unless they start in a folder of their run. */
  readonly directory: string;
}

export interface StartedRunProgram extends StartedProgram {
  readonly folder: RunFolder;
  /** The text for its standard input, if it takes no placeholder for it. */
  readonly prompt: string;
}

/**
 * Starts the program of a job.
 *
 * @throws {Error} if it can't be started
 * @throws the reason of the job's signal, once that is aborted
 */
export async function startProgram(
  job: EngineJob,
  program: DeclaredProgram,
  options: ProgramOptions,
): Promise<StartedRunProgram> {
  const folder = await createRunFolder(
    getProgramRecordsFolder(options.dataDir),
    toProgramFacts(job),
  );
  try {
    job.signal.throwIfAborted();
    const images = await writeImages(job, folder.workingDirectory);
    // Arguments can't contain placeholders of the environment: process lists would show the value.
    const values = createRunValues(job, program, { env: {}, images });
    const start = buildProgramStart({ declaration: program, values, folder }, job, options);
    const tree = new ProcessTree(start, RUN_VARIABLE);
    const output = new OutputCollector(tree.child);

    const pendingRecord = tree.root && folder.recordStart(tree.root).catch(() => {});
    const end = async (): Promise<void> => {
      await tree.end();
      await pendingRecord;
      await folder.remove();
    };

    return { tree, output, folder, prompt: values.prompt, end };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** Returns the facts about a run that its program may read. */
export function toProgramFacts({ runId, model: { model }, inputs, runOptions }: EngineJob): object {
  return { runId, model, inputs: inputs.texts, options: runOptions };
}

function buildProgramStart(
  {
    declaration,
    values,
    folder,
  }: { declaration: DeclaredProgram; values: RunValues; folder: RunFolder },
  { traceparent }: EngineJob,
  { env, directory }: ProgramOptions,
): ProgramStart {
  const { argv, filledIndexes } = fillArguments(declaration, values);
  const [program, ...args] = argv;

  // A relative path is relative to `directory`, even if the program starts elsewhere.
  const needsAbsolutePath = /[\\/]/u.test(program) && declaration.usesTemporaryFolder;
  return {
    argv: [needsAbsolutePath ? path.resolve(directory, program) : program, ...args],
    filledIndexes,
    directory: declaration.usesTemporaryFolder ? folder.workingDirectory : directory,
    env: {
      ...withoutKeys(env, []),
      [RUN_VARIABLE]: folder.factsFile,
      ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    },
  };
}

/** Writes each image to a file; returns the paths. */
async function writeImages(job: EngineJob, folder: string): Promise<string[]> {
  return await Promise.all(
    listPromptImages(job).map(async ({ bytes, mediaType }, index) => {
      const ending = /^image\/(?:x-)?([a-z\d]+)/u.exec(mediaType)?.[1] ?? 'bin';
      const file = path.join(folder, `${index + 1}.${ending}`);
      await writeFile(file, bytes, { mode: 0o600 });
      return file;
    }),
  );
}

/**
 * Fills in the arguments of a program: each value stays within its argument, and an argument with
 * `${images}` is repeated per image.
 */
function fillArguments(
  { argv }: DeclaredProgram,
  values: RunValues,
): Pick<ProgramStart, 'argv' | 'filledIndexes'> {
  const filledArguments: string[] = [];
  const filledIndexes = new Set<number>();
  for (const argument of argv) {
    const names = splitAtPlaceholders(argument).flatMap(piece =>
      typeof piece === 'string' ? [] : piece.name,
    );
    const argumentImages = names.includes('images') ? values.images : [''];
    const hasRunValue = names.some(name => !['here', 'model', 'images'].includes(name));
    for (const image of argumentImages) {
      if (hasRunValue) {
        filledIndexes.add(filledArguments.length);
      }
      const toValue = (placeholder: ProgramPlaceholder): JsonValue =>
        placeholder.name === 'images' ? image : values.getTextValue(placeholder);
      filledArguments.push(fillText(argument, toValue));
    }
  }

  const [program = '', ...args] = filledArguments;
  return { argv: [program, ...args], filledIndexes };
}
