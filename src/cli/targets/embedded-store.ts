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
 * Explains an error about a prompt file: its first fault, with the relative path, and a hint on how
 * to see the others. Returns any other error unchanged.
 */
export function explainStoreError(ctx: Context, error: unknown): unknown {
  if (getErrorCode(error) !== 'INVALID_PROMPT_FILE') return error;

  const { file, line, problem, findings } = error as InvalidPromptFileError;
  const relativePath = formatPath(ctx, file);
  const message = `${relativePath}:${line}: ${problem}`;
  const faultCount = findings.filter(({ severity }) => severity === 'fault').length;
  // A partial can't be run, even without its other faults.
  const isPartial = path.basename(file).startsWith('_');
  if (faultCount <= 1 || isPartial) return usageError(message);

  const allFaults = faultCount === 2 ? 'Both' : `All ${faultCount}`;
  const checkCommand = `promptrun prompts check ${quoteIfNeeded(relativePath, detectShell(ctx.env))}`;
  return usageError(message, `${allFaults} faults: ${checkCommand}`);
}
