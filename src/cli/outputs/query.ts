import { PastBound } from '../../files/bounds/past-bound.ts';
import { messageOf } from '../../files/error-utils.ts';
import type { ExpressionFault, Selection } from '../../files/jmespath.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** In bytes. */
const LONGEST_EXPRESSION = 16 * 1024;

/**
 * Reports what is wrong with a JMESPath expression, and where; undefined if it can be evaluated.
 *
 * @throws {PastBound} if it is too long, or reading it takes too much time or memory
 */
export async function expressionFault(
  ctx: Pick<Context, 'checks'>,
  expression: string,
): Promise<ExpressionFault | undefined> {
  if (Buffer.byteLength(expression) > LONGEST_EXPRESSION) {
    throw new PastBound(`the expression is larger than ${LONGEST_EXPRESSION / 1024} KiB`);
  }
  return await (await ctx.checks()).perform('expressionFault', expression);
}

/** Refuses a `--query` that can't be evaluated, showing where it goes wrong. Sends nothing. */
export async function checkQuery(ctx: Pick<Context, 'checks'>, expression: string): Promise<void> {
  const fault = await expressionFault(ctx, expression).catch((error: unknown) => {
    throw refused(error);
  });
  if (fault !== undefined) throw usageError(`--query: ${fault.message}`, ...pointAt(expression, fault));
}

/** What a checked expression selects of `value`. @throws {CliError} (exit 2) where a function gets what it can't take */
export async function applyQuery(
  ctx: Pick<Context, 'checks'>,
  expression: string,
  value: unknown,
  indent = 0,
): Promise<Selection> {
  const checks = await ctx.checks();
  return await checks.perform('select', expression, value, indent).catch((error: unknown) => {
    throw refused(error);
  });
}

function refused(error: unknown): Error {
  // What ended the command says so itself.
  if (error instanceof CliError) return error;
  return usageError(`--query: ${messageOf(error)}`, HINT);
}

const HINT = 'JMESPath is described at https://jmespath.site';

/** Hints that show where an expression goes wrong. */
export function pointAt(expression: string, { at }: ExpressionFault): string[] {
  if (expression === '' || at === undefined) return [HINT];
  return [oneLine(expression), `${' '.repeat(oneLine(expression.slice(0, at)).length)}^`, HINT];
}
