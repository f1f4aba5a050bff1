import { PastBound } from '../../../files/bounds/past-bound.ts';
import type { Result, TaskName, Work } from '../../../prompts/tasks/tasks.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';

/**
 * Does a task on a file, in a process of its own if the file is large: reading YAML keeps a process busy, and takes more
 * than a hundred times the memory of the file.
 *
 * @throws what the task throws, and the signal's reason
 * @throws {CliError} USAGE_ERROR naming the file if it takes too much time or memory
 */
export async function inTasks<N extends TaskName>(
  { signal }: Pick<Context, 'signal'>,
  name: N,
  work: Work<N> & { readonly file: string },
): Promise<Result<N>> {
  const { withTasks } = await import('../../../prompts/tasks/prompt-tasks.ts');
  return await withTasks(tasks => tasks.do(name, work, { signal })).catch((error: unknown) => {
    throw error instanceof PastBound ? usageError(`${work.file}: ${error.message}`) : error;
  });
}
