import {
  compile,
  getRegisteredFunctions,
  type JSONObject,
  type JSONValue,
  search,
  tokenize,
} from '@jmespath-community/jmespath';
import { messageOf } from './error-utils.ts';

// Literals without quotes, as in [?type==`text`], are widely used.
const OPTIONS = { enable_legacy_literals: true };

/** What is wrong with an expression. */
export interface ExpressionFault {
  readonly message: string;
  /** Index of the character; undefined where the whole is meant. */
  readonly at: number | undefined;
}

/** What is wrong with an expression, and where; undefined if it can be evaluated. */
export function expressionFault(expression: string): ExpressionFault | undefined {
  return syntaxFault(expression) ?? namesFault(expression);
}

/** What an expression selects, as text: a small value can hold itself so often that writing it down never ends. */
export interface Selection {
  readonly json: string;
  /** If it is a text: that text. */
  readonly bare?: string;
  /** Anything but false, null and what is empty. */
  readonly isTrue: boolean;
}

/**
 * Selects what a checked expression says.
 *
 * @param indent spaces that JSON is indented by
 * @throws the language's error if a function gets what it can't take
 */
export function select(expression: string, value: unknown, indent: number): Selection {
  const selected = search(ownFields(value), expression, OPTIONS) ?? null;
  return {
    json: JSON.stringify(selected, undefined, indent),
    ...(typeof selected === 'string' && { bare: selected }),
    isTrue: isTrue(selected),
  };
}

function isTrue(value: JSONValue): boolean {
  if (value === null || value === false || value === '') return false;
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

/** The value without what objects inherit: a field called `constructor` is not there unless it came. */
function ownFields(value: unknown): JSONValue {
  if (Array.isArray(value)) return value.map(ownFields);
  if (typeof value !== 'object' || value === null) return (value ?? null) as JSONValue;
  const copy = Object.create(null) as JSONObject;
  for (const [name, field] of Object.entries(value)) copy[name] = ownFields(field);
  return copy;
}

function syntaxFault(expression: string): ExpressionFault | undefined {
  const message = failure(() => compile(expression, OPTIONS));
  if (message === undefined) return undefined;
  if (expression.trim() === '') return { message: 'the expression is empty', at: undefined };
  if (failure(() => tokenize(expression, OPTIONS)) !== undefined) {
    return { message: 'unfinished quote or unknown character', at: longestReadable(expression) };
  }
  const at = firstWrongToken(expression);
  return at === expression.length
    ? { message: 'the expression is not finished', at }
    : { message: `unexpected \`${expression.slice(at).replace(/\s+/gu, ' ').trim().slice(0, 20)}\``, at };
}

/** Where the first character stands that can't be read as part of a token. */
function longestReadable(expression: string): number {
  let end = expression.length;
  while (end > 0 && failure(() => tokenize(expression.slice(0, end), OPTIONS)) !== undefined) end -= 1;
  return end;
}

/** The parser does not say where it failed: what fails for another reason than being cut short fails at its last token. */
function firstWrongToken(expression: string): number {
  const starts = tokenize(expression, OPTIONS).map(token => token.start);
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? expression.length;
    const message = failure(() => compile(expression.slice(0, end), OPTIONS));
    if (message !== undefined && !message.includes('EOF')) return start;
  }
  return expression.length;
}

/** Functions that don't exist would otherwise be noticed only once there is something to apply them to. */
function namesFault(expression: string): ExpressionFault | undefined {
  const functions = new Set(getRegisteredFunctions());
  const name = functionNames(compile(expression, OPTIONS)).find(called => !functions.has(called));
  return name === undefined
    ? undefined
    : {
        message: `there is no function \`${name}\``,
        at: expression.search(new RegExp(`\\b${name}\\s*\\(`, 'u')),
      };
}

function functionNames(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, name, ...rest } = node as { type?: unknown; name?: unknown };
  const inner = Object.values(rest).flatMap(functionNames);
  return type === 'Function' && typeof name === 'string' ? [name, ...inner] : inner;
}

function failure(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
