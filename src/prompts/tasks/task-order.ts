import { FileFault } from '../../files/formats/file-fault.ts';
import type { ErrorClasses } from '../../processes/process-messages.ts';
import { InvalidInputsError } from '../definition.ts';
import { InvalidPromptFileError } from '../findings.ts';
import type { TaskInput, TaskName } from './perform-task.ts';

export interface TaskOrder {
  readonly name: TaskName;
  readonly work: TaskInput<TaskName>;
}

/** The processes were closed before the task was done. */
export class TasksClosedError extends Error {
  override readonly name = 'TasksClosedError';
}

/** The error classes that tasks throw in addition to LimitExceededError. */
export const TASK_ERRORS: ErrorClasses = new Map<unknown, { readonly prototype: Error }>([
  ['INVALID_INPUTS', InvalidInputsError],
  ['INVALID_PROMPT_FILE', InvalidPromptFileError],
  ['FILE_FAULT', FileFault],
]);
