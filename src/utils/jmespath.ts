import {
  compile,
  getRegisteredFunctions,
  type JSONObject,
  type JSONValue,
  search,
  tokenize,
} from '@jmespath-community/jmespath';
import { getErrorMessage } from './error-utils.ts';

// Literals without quotes, as in [?type==`text`], are widely used.
const JMESPATH_OPTIONS = { enable_legacy_literals: true };

export interface ExpressionFault {
  readonly message: string;
  /** The index of the character; undefined for the whole expression. */
  readonly index: number | undefined;
}

/** Returns the fault in an expression; undefined if it can be evaluated. */
export function findExpressionFault(expression: string): ExpressionFault | undefined {
  return findJmespathFault(expression) ?? findFunctionFault(expression);
}

/**
 * A selected value as text, because serialising a small value can take forever if it contains
 * itself often enough.
 */
export interface SelectedText {
  readonly json: string;
  /** The value itself, if it is a string. */
  readonly text?: string;
  /** True unless the value is false, null or empty. */
  readonly isTruthy: boolean;
}

/**
 * Evaluates a checked expression.
 *
 * @param indent the number of spaces to indent JSON by
 * @throws the library's error if a function gets an argument of the wrong type
 */
export function evaluateExpression(
  expression: string,
  value: unknown,
  indent: number,
): SelectedText {
  const selection = search(copyOwnFields(value), expression, JMESPATH_OPTIONS) ?? null;
  return {
    json: JSON.stringify(selection, undefined, indent),
    ...(typeof selection === 'string' && { text: selection }),
    isTruthy: isTruthyJson(selection),
  };
}

function isTruthyJson(value: JSONValue): boolean {
  if (value === null || value === false || value === '') return false;
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

/**
 * Copies a value without prototypes, so that `constructor` is a field only if the value has one.
 */
function copyOwnFields(value: unknown): JSONValue {
  if (Array.isArray(value)) return value.map(copyOwnFields);
  if (typeof value !== 'object' || value === null) return (value ?? null) as JSONValue;
  const copy = Object.create(null) as JSONObject;
  for (const [name, field] of Object.entries(value)) copy[name] = copyOwnFields(field);
  return copy;
}

function findJmespathFault(expression: string): ExpressionFault | undefined {
  const message = catchMessage(() => compile(expression, JMESPATH_OPTIONS));
  if (message === undefined) return undefined;
  if (expression.trim() === '') return { message: 'the expression is empty', index: undefined };

  if (catchMessage(() => tokenize(expression, JMESPATH_OPTIONS)) !== undefined) {
    return {
      message: 'unfinished quote or unknown character',
      index: computeTokenizableLength(expression),
    };
  }

  const index = findFirstWrongToken(expression);
  if (index === expression.length) return { message: 'the expression is not finished', index };
  const rest = expression.slice(index).replace(/\s+/gu, ' ').trim();
  return { message: `unexpected \`${rest.slice(0, 20)}\``, index };
}

/** Returns the index of the first character that is not part of a token. */
function computeTokenizableLength(expression: string): number {
  let end = expression.length;
  while (
    end > 0 &&
    catchMessage(() => tokenize(expression.slice(0, end), JMESPATH_OPTIONS)) !== undefined
  ) {
    end -= 1;
  }
  return end;
}

/**
 * Returns the start of the wrong token. The parser gives no position, so this parses longer and
 * longer prefixes.
 */
function findFirstWrongToken(expression: string): number {
  const starts = tokenize(expression, JMESPATH_OPTIONS).map(token => token.start);
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? expression.length;
    const message = catchMessage(() => compile(expression.slice(0, end), JMESPATH_OPTIONS));
    if (message !== undefined && !message.includes('EOF')) return start;
  }
  return expression.length;
}

/**
 * Returns the fault of an unknown function, which the library reports only once it is applied to a
 * value.
 */
function findFunctionFault(expression: string): ExpressionFault | undefined {
  const functions = new Set(getRegisteredFunctions());
  const name = collectFunctionNames(compile(expression, JMESPATH_OPTIONS)).find(
    called => !functions.has(called),
  );
  if (name === undefined) return undefined;
  const index = expression.search(new RegExp(`\\b${name}\\s*\\(`, 'u'));
  return { message: `unknown function \`${name}\``, index };
}

function collectFunctionNames(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, name, ...rest } = node as { type?: unknown; name?: unknown };
  const innerNames = Object.values(rest).flatMap(collectFunctionNames);
  return type === 'Function' && typeof name === 'string' ? [name, ...innerNames] : innerNames;
}

function catchMessage(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}
