import path from 'node:path';
import { type Finding, InvalidPromptFileError } from '../findings.ts';
import { readPromptText } from '../parse/read-prompt-text.ts';
import type { PromptTasks } from '../tasks/prompt-tasks.ts';
import { checkPrompt, type KnownModels } from './check-prompt.ts';

/** The options of a check of a file. */
interface CheckFileOptions {
  readonly models: KnownModels;
  readonly tasks: PromptTasks;
  /** True if partials may lie outside the folder of the file; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True if a missing model is a fault, not a note; default false. */
  readonly needsModel?: boolean | undefined;
}

/** Returns every fault and note of a prompt file. @throws errors of the file system */
export async function checkPromptFile(
  file: string,
  { needsModel = false, ...options }: CheckFileOptions,
): Promise<Finding[]> {
  try {
    return await checkPrompt(await readPromptText(file), file, {
      ...options,
      needsModel,
    });
  } catch (error) {
    if (!(error instanceof InvalidPromptFileError)) throw error;
    const { line, problem } = error;
    return [
      { severity: 'fault', file: path.normalize(error.file), line, column: 1, message: problem },
    ];
  }
}
