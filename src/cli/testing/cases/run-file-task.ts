import { PastBound } from '../../../files/bounds/past-bound.ts';
import type { PromptTasks } from '../../../prompts/tasks/prompt-tasks.ts';
import type { Result, TaskName, Work } from '../../../prompts/tasks/tasks.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';

/**
 * Runs a task on a file, in its own process if the file is large, because reading YAML blocks a process and takes more than
 * a hundred times the file's memory.
 *
 * @param shared the tasks of several calls, which then share a process; default its own
 * @throws the task's errors, and the signal's reason
 * @throws {CliError} USAGE_ERROR that names the file if it takes too much time or memory
 */
export async function runFileTask<N extends TaskName>(
  { signal }: Pick<Context, 'signal'>,
  name: N,
  work: Work<N> & { readonly file: string },
  shared?: PromptTasks,
): Promise<Result<N>> {
  const { withTasks } = await import('../../../prompts/tasks/prompt-tasks.ts');
  const run = (tasks: PromptTasks): Promise<Result<N>> => tasks.do(name, work, { signal });
  return await (shared ? run(shared) : withTasks(run)).catch((error: unknown) => {
    throw error instanceof PastBound ? usageError(`${work.file}: ${error.message}`) : error;
  });
}
