import type * as jmespath from '@jmespath-community/jmespath';
import { messageOf } from '../../files/error-utils.ts';
import { usageError } from '../errors.ts';
import { oneLine } from '../terminal/sanitise.ts';

type Language = typeof jmespath;

// Literals without quotes, as in [?type==`text`], are widely used.
const OPTIONS = { enable_legacy_literals: true };

/** Refuses a JMESPath expression that can't be evaluated, showing where it goes wrong. Sends nothing. */
export async function checkQuery(expression: string): Promise<void> {
  const language = await import('@jmespath-community/jmespath');
  const fault = syntaxFault(language, expression) ?? namesFault(language, expression);
  if (fault === undefined) return;
  throw usageError(`--query: ${fault.message}`, ...pointAt(expression, fault.at));
}

/** What a checked expression selects of `value`. @throws {CliError} (exit 2) where a function gets what it can't take */
export async function applyQuery(expression: string, value: unknown): Promise<unknown> {
  const { search } = await import('@jmespath-community/jmespath');
  try {
    return search(ownFields(value), expression, OPTIONS) ?? null;
  } catch (error) {
    throw usageError(`--query: ${messageOf(error)}`, ...pointAt(expression, undefined));
  }
}

/** The value without what objects inherit: a field called `constructor` is not there unless it came. */
function ownFields(value: unknown): jmespath.JSONValue {
  if (Array.isArray(value)) return value.map(ownFields);
  if (typeof value !== 'object' || value === null) return (value ?? null) as jmespath.JSONValue;
  const copy = Object.create(null) as jmespath.JSONObject;
  for (const [name, field] of Object.entries(value)) copy[name] = ownFields(field);
  return copy;
}

interface Fault {
  readonly message: string;
  /** Index of the character; undefined where the whole is meant. */
  readonly at: number | undefined;
}

function syntaxFault(language: Language, expression: string): Fault | undefined {
  const message = failure(() => language.compile(expression, OPTIONS));
  if (message === undefined) return undefined;
  if (expression.trim() === '') return { message: 'the expression is empty', at: undefined };
  if (failure(() => language.tokenize(expression, OPTIONS)) !== undefined) {
    return { message: 'unfinished quote or unknown character', at: longestReadable(language, expression) };
  }
  const at = firstWrongToken(language, expression);
  return at === expression.length
    ? { message: 'the expression is not finished', at }
    : { message: `unexpected \`${oneLine(expression.slice(at).trim().slice(0, 20))}\``, at };
}

/** Where the first character stands that can't be read as part of a token. */
function longestReadable(language: Language, expression: string): number {
  let end = expression.length;
  while (end > 0 && failure(() => language.tokenize(expression.slice(0, end), OPTIONS)) !== undefined)
    end -= 1;
  return end;
}

/** The parser does not say where it failed: what fails for another reason than being cut short fails at its last token. */
function firstWrongToken(language: Language, expression: string): number {
  const starts = language.tokenize(expression, OPTIONS).map(token => token.start);
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? expression.length;
    const message = failure(() => language.compile(expression.slice(0, end), OPTIONS));
    if (message !== undefined && !message.includes('EOF')) return start;
  }
  return expression.length;
}

/** Functions that don't exist would otherwise be noticed only once there is something to apply them to. */
function namesFault(language: Language, expression: string): Fault | undefined {
  const functions = new Set(language.getRegisteredFunctions());
  const name = functionNames(language.compile(expression, OPTIONS)).find(called => !functions.has(called));
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

function pointAt(expression: string, at: number | undefined): string[] {
  const hint = 'JMESPath is described at https://jmespath.site';
  if (expression === '' || at === undefined) return [hint];
  return [oneLine(expression), `${' '.repeat(oneLine(expression.slice(0, at)).length)}^`, hint];
}

function failure(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
