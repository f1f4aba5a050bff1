import path from 'node:path';
import type { InvalidPromptFileError } from '../../prompts/findings.ts';
import type { LocalStore } from '../../service/local-store.ts';
import { getErrorCode } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { formatPath } from '../core/paths.ts';
import { detectShell, quoteIfNeeded } from '../terminal/shell-words.ts';

/**
 * Opens the store of the embedded service, and closes it after `use`.
 *
 * @param onNotice called with each fault of models.yaml; the embedded service reports them itself
 */
export async function withLocalStore<T>(
  ctx: Context,
  use: (store: LocalStore) => Promise<T>,
  onNotice: (line: string) => void = () => {},
): Promise<T> {
  const { dataDir, modelsFile, declaredModels } = ctx;
  try {
    const tasks = await ctx.promptTasks();
    return await ctx.local.withStore({ dataDir, modelsFile, declaredModels, onNotice, tasks }, use);
  } catch (error) {
    throw explainStoreError(ctx, error);
  }
}

/**
 * Converts an error of the store. A prompt file's first fault gets its relative path and a hint to
 * see the others.
 */
export function explainStoreError(ctx: Context, error: unknown): unknown {
  if (getErrorCode(error) !== 'INVALID_PROMPT_FILE') return error;

  const { file, line, problem, findings } = error as InvalidPromptFileError;
  const relativePath = formatPath(ctx, file);
  const message = `${relativePath}:${line}: ${problem}`;
  const count = findings.filter(({ severity }) => severity === 'fault').length;
  // A partial can't be run, even without its other faults.
  const isPartial = path.basename(file).startsWith('_');
  if (count <= 1 || isPartial) return usageError(message);

  const allFaults = count === 2 ? 'Both' : `All ${count}`;
  const checkCommand = `promptrun prompts check ${quoteIfNeeded(relativePath, detectShell(ctx.env))}`;
  return usageError(message, `${allFaults} faults: ${checkCommand}`);
}
