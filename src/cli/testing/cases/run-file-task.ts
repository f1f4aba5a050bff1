import type { TaskInput, TaskName, TaskResult } from '../../../prompts/tasks/perform-task.ts';
import { LimitExceededError } from '../../../utils/limit-exceeded.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';

/**
 * Runs a task on a file, in another process if the file is large, because reading YAML blocks a
 * process and takes more than a hundred times the file's memory.
 *
 * @throws the task's errors, and the signal's reason
 * @throws {CliError} USAGE_ERROR that names the file if it takes too much time or memory
 */
export async function runFileTask<N extends TaskName>(
  { signal, promptTasks }: Pick<Context, 'signal' | 'promptTasks'>,
  name: N,
  work: TaskInput<N> & { readonly file: string },
): Promise<TaskResult<N>> {
  const tasks = await promptTasks();
  return await tasks.run(name, work, { signal }).catch((error: unknown) => {
    throw error instanceof LimitExceededError
      ? usageError(`${work.file}: ${error.message}`)
      : error;
  });
}
