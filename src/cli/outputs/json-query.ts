import { getErrorMessage } from '../../utils/error-utils.ts';
import type { ExpressionFault, SelectedText } from '../../utils/jmespath.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';

const MAX_EXPRESSION_BYTES = 16 * 1024;

const REFERENCE_HINT = 'JMESPath is described at https://jmespath.site';

/**
 * Returns the fault of a JMESPath expression and its place; undefined if it can be evaluated.
 *
 * @throws {LimitExceededError} if it is too long, or parsing it takes too much time or memory
 */
export async function findQueryFault(
  ctx: Pick<Context, 'checks'>,
  expression: string,
): Promise<ExpressionFault | undefined> {
  if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) {
    throw new LimitExceededError(
      `the expression is larger than ${MAX_EXPRESSION_BYTES / 1024} KiB`,
    );
  }
  return await (await ctx.checks()).perform('findExpressionFault', expression);
}

/** Refuses a `--query` that can't be evaluated, and shows the place of the fault. Sends nothing. */
export async function checkQuery(ctx: Pick<Context, 'checks'>, expression: string): Promise<void> {
  const fault = await findQueryFault(ctx, expression).catch((error: unknown) => {
    throw queryError(error);
  });
  if (fault !== undefined) {
    throw usageError(`--query: ${fault.message}`, ...formatFaultHints(expression, fault));
  }
}

/**
 * Applies a checked expression to `value`.
 *
 * @throws {CliError} (exit 2) if a function gets an invalid argument
 */
export async function applyQuery(
  ctx: Pick<Context, 'checks'>,
  expression: string,
  value: unknown,
  indent = 0,
): Promise<SelectedText> {
  const checks = await ctx.checks();
  return await checks
    .perform('evaluateExpression', expression, value, indent)
    .catch((error: unknown) => {
      throw queryError(error);
    });
}

function queryError(error: unknown): Error {
  // The command has already failed with a clearer error.
  if (error instanceof CliError) return error;
  return usageError(`--query: ${getErrorMessage(error)}`, REFERENCE_HINT);
}

/** Returns hints that show the place of an expression's fault. */
export function formatFaultHints(expression: string, { index }: ExpressionFault): string[] {
  if (expression === '' || index === undefined) return [REFERENCE_HINT];
  return [
    toOneLine(expression),
    `${' '.repeat(toOneLine(expression.slice(0, index)).length)}^`,
    REFERENCE_HINT,
  ];
}
