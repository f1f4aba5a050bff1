import type { JsonValue } from '../../../../files/formats/json.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../core/errors.ts';

/**
 * Runs the code of `transformVars`, and returns its result as JSON.
 *
 * @throws {CliError} USAGE_ERROR at the code if it fails, because promptfoo runs no test then
 */
export async function transformedVariables(
  ctx: Context,
  { code, input }: { readonly code: string; readonly input: JsonValue },
  place: string,
): Promise<string> {
  const checks = await ctx.checks();
  const context = { vars: {}, prompt: null, test: null };
  const result = await checks.perform('rendering', { code, isFile: false }, { output: input, context });
  if ('fault' in result) throw usageError(`${place}: \`transformVars\`: ${result.fault}`);
  return JSON.stringify(result.value ?? null);
}
