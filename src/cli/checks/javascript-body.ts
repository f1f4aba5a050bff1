import { compileFunction } from 'node:vm';
import { getErrorMessage } from '../../utils/error-utils.ts';

/**
 * Returns the body of a function of `output` and `context`: several lines, or an expression,
 * perhaps after declarations.
 */
export function toFunctionBody(code: string): string {
  if (code.includes('\n')) return code;
  return isDeclaration(code)
    ? `return eval(${JSON.stringify(code.trim())})`
    : `return ${code.trim()}`;
}

/**
 * Returns the reason that code can't be compiled, which is found without running it; undefined if
 * it can.
 */
export function findJavaScriptFault(code: string): string | undefined {
  try {
    compileFunction(isDeclaration(code) ? code : toFunctionBody(code), ['output', 'context']);
    return undefined;
  } catch (error) {
    return `SyntaxError: ${getErrorMessage(error)}`;
  }
}

/** Returns true for a line of declarations, whose value is that of its last expression. */
function isDeclaration(code: string): boolean {
  return !code.includes('\n') && /^(?:const|let|var)\s/u.test(code.trim());
}
