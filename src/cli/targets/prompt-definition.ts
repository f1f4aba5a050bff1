import type { PromptDefinition } from '../../prompts/definition.ts';
import type { Context } from '../context.ts';
import { explainStoreError, withLocalStore } from './embedded-store.ts';

/**
 * Reads a prompt file. Its partials may lie outside its folder only with `--allow-outside`.
 *
 * @throws {CliError} for the first fault, with its line
 */
export async function readPromptDefinition(ctx: Context, file: string): Promise<PromptDefinition> {
  return await readDefinitionFile(ctx, file).catch((error: unknown) => {
    throw explainStoreError(ctx, error);
  });
}

/**
 * Reads a prompt file like `readPromptDefinition`.
 *
 * @throws {InvalidPromptFileError} with every fault
 */
export async function readDefinitionFile(ctx: Context, file: string): Promise<PromptDefinition> {
  const { readPromptFile } = await import('../../prompts/tasks/read-prompt.ts');
  const { allowOutside } = ctx.globals;
  return await readPromptFile(file, { tasks: await ctx.promptTasks(), allowOutside });
}

/** Returns the definition of a version in the local store; undefined if there is none. */
export function findVersionDefinition(
  ctx: Context,
  promptVersionId: string,
): Promise<PromptDefinition | undefined> {
  return withLocalStore(ctx, store => store.findDefinition(promptVersionId));
}
