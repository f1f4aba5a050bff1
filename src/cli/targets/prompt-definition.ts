import type { PromptDefinition } from '../../prompts/definition.ts';
import type { Context } from '../context.ts';
import { asTyped, withLocalStore } from './prompt-file.ts';

/**
 * What a prompt file says; partials may lie outside its folder only with `--allow-outside`.
 *
 * @throws {CliError} of the first fault, with its line
 */
export async function definitionOfFile(ctx: Context, file: string): Promise<PromptDefinition> {
  return await readDefinition(ctx, file).catch((error: unknown) => {
    throw asTyped(ctx, error);
  });
}

/** The same. @throws {InvalidPromptFile} with every fault */
export async function readDefinition(ctx: Context, file: string): Promise<PromptDefinition> {
  const [{ readPromptFile }, { withTasks }] = await Promise.all([
    import('../../prompts/tasks/read-prompt.ts'),
    import('../../prompts/tasks/prompt-tasks.ts'),
  ]);
  const { allowOutside } = ctx.globals;
  return await withTasks(tasks => readPromptFile(file, { tasks, allowOutside }));
}

/** What a version in the local store says; undefined if it is not there. */
export function definitionOfVersion(
  ctx: Context,
  promptVersionId: string,
): Promise<PromptDefinition | undefined> {
  return withLocalStore(ctx, store => store.definition(promptVersionId));
}
