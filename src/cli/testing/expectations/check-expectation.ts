import { messageOf } from '../../../files/error-utils.ts';
import { PastBound } from '../../outputs/checks/checks.ts';
import type { SchemaCheck } from '../../outputs/output-schema.ts';
import { commandText, describe, quoted, shown } from './describe.ts';
import {
  type Answer,
  type Expectation,
  type ExpectationTools,
  isTextExpectation,
  type Mismatch,
  type TextExpectation,
  type TextKind,
} from './expectation.ts';
import { firstDifference, jsonOf, onlyExpected } from './json-match.ts';
import { llmMismatch, rubricMismatch } from './judged.ts';

/**
 * Reports what of an expectation was not met; undefined if all was. A check that takes too long is not met, whatever
 * was expected.
 *
 * @throws what the tools throw when they can't say
 */
export async function checkExpectation(
  expectation: Expectation,
  answer: Answer,
  tools: ExpectationTools,
): Promise<Mismatch | undefined> {
  const { line, at } = expectation;
  try {
    const unmet = await mismatchOf(expectation, answer, tools);
    return unmet && { line, at, ...unmet };
  } catch (error) {
    if (!(error instanceof PastBound)) throw error;
    return { line, at, message: `${describe(expectation)}: the check ${error.message}`, actual: answer.text };
  }
}

/** An expectation that was not met, wherever it stands. */
export type Unmet = Omit<Mismatch, 'line' | 'at'>;

const TEXT_CHECKS: Record<TextKind, (text: string, expected: string) => boolean> = {
  contains: (text, expected) => text.includes(expected),
  icontains: (text, expected) => text.toLowerCase().includes(expected.toLowerCase()),
  startsWith: (text, expected) => text.startsWith(expected),
  istartsWith: (text, expected) => text.toLowerCase().startsWith(expected.toLowerCase()),
  endsWith: (text, expected) => text.endsWith(expected) || withoutLastBreak(text).endsWith(expected),
  iendsWith: (text, expected) => TEXT_CHECKS.endsWith(text.toLowerCase(), expected.toLowerCase()),
  // A line break at the end is how files and YAML blocks end, not part of what was meant.
  equals: (text, expected) => withoutLastBreak(text) === withoutLastBreak(expected),
};

const TEXT_FAULTS: Record<TextKind, string> = {
  contains: 'does not contain',
  icontains: 'does not contain',
  startsWith: 'does not begin with',
  istartsWith: 'does not begin with',
  endsWith: 'does not end with',
  iendsWith: 'does not end with',
  equals: 'is not equal',
};

async function mismatchOf(
  expectation: Expectation,
  answer: Answer,
  tools: ExpectationTools,
): Promise<Unmet | undefined> {
  const { text } = answer;
  if (isTextExpectation(expectation)) return textMismatch(expectation, text);
  switch (expectation.kind) {
    case 'json':
      return jsonMismatch(expectation.value, text);
    case 'jmespath':
      return expressionMismatch(expectation.expression, text, tools);
    case 'matches':
      return (await tools.checks.perform(
        'matches',
        expectation.pattern.source,
        expectation.pattern.flags,
        text,
      ))
        ? undefined
        : { message: `does not match ${shown(expectation.pattern)}`, actual: text };
    case 'schema':
      return schemaMismatch(expectation, text);
    case 'containsJson':
      return (await tools.checks.perform('containsJson', text, expectation.schema))
        ? undefined
        : {
            message: `contains no JSON${expectation.schema === undefined ? '' : ' that matches the schema'}`,
            actual: text,
          };
    case 'seconds':
    case 'tokens':
    case 'cost':
      return amountMismatch(expectation, answer);
    case 'rubric':
      return rubricMismatch(expectation, text, tools);
    case 'llm':
      return llmMismatch(expectation, text, tools);
    case 'command':
      return commandMismatch(expectation.argv, text, tools);
    case 'any':
      return anyMismatch(expectation.options, answer, tools);
    case 'not':
      return (await mismatchOf(expectation.expectation, answer, tools)) === undefined
        ? { message: `meets what it must not: ${describe(expectation.expectation)}`, actual: text }
        : undefined;
    default:
      throw new TypeError('an expectation of an unknown kind');
  }
}

function textMismatch({ kind, text: expected }: TextExpectation, text: string): Unmet | undefined {
  if (TEXT_CHECKS[kind](text, expected)) return undefined;
  return kind === 'equals'
    ? { message: TEXT_FAULTS[kind], expected, actual: text }
    : { message: `${TEXT_FAULTS[kind]} ${quoted(expected)}`, actual: text };
}

const NOT_JSON = 'is not JSON';

function jsonMismatch(expected: unknown, text: string): Unmet | undefined {
  const json = jsonOf(text);
  if (json === undefined) return { message: NOT_JSON, expected: pretty(expected), actual: text };
  const different = firstDifference(expected, json.value);
  return (
    different && {
      message: `differs at ${JSON.stringify(different.pointer)}: ${different.message}`,
      expected: pretty(expected),
      actual: pretty(onlyExpected(expected, json.value)),
    }
  );
}

/** What JMESPath takes for true: anything but false, null and what is empty. */
async function expressionMismatch(
  expression: string,
  text: string,
  { checks }: ExpectationTools,
): Promise<Unmet | undefined> {
  const json = jsonOf(text);
  if (json === undefined) {
    return { message: `${NOT_JSON}, so ${quoted(expression)} can't be asked of it`, actual: text };
  }
  try {
    const result = await checks.perform('select', expression, json.value);
    return isTrue(result)
      ? undefined
      : { message: `${quoted(expression)} gives ${JSON.stringify(result)}`, actual: pretty(json.value) };
  } catch (error) {
    if (error instanceof PastBound) throw error;
    return { message: `${quoted(expression)}: ${messageOf(error).replace(/^--query: /u, '')}`, actual: text };
  }
}

function isTrue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

async function schemaMismatch(
  { name, check }: { readonly name: string; readonly check: SchemaCheck },
  text: string,
): Promise<Unmet | undefined> {
  const json = jsonOf(text);
  const mismatch = json === undefined ? { pointer: '', message: NOT_JSON } : await check(json.value);
  return (
    mismatch && {
      message: `does not match ${name} at ${JSON.stringify(mismatch.pointer)}: ${mismatch.message}`,
      actual: text,
    }
  );
}

async function amountMismatch(
  { kind, most }: { readonly kind: 'seconds' | 'tokens' | 'cost'; readonly most: number },
  answer: Answer,
): Promise<Unmet | undefined> {
  if (kind === 'seconds') {
    return answer.seconds <= most
      ? undefined
      : { message: `took ${answer.seconds.toFixed(1)} s, more than ${most} s` };
  }
  if (kind === 'tokens') {
    return answer.tokens <= most ? undefined : { message: `took ${answer.tokens} tokens, more than ${most}` };
  }
  const dollars = await answer.dollars();
  if (dollars === undefined) return { message: `what it cost is not known, so it may be more than $${most}` };
  return dollars <= most ? undefined : { message: `cost $${dollars}, more than $${most}` };
}

async function commandMismatch(
  argv: readonly [string, ...string[]],
  text: string,
  { command }: ExpectationTools,
): Promise<Unmet | undefined> {
  const failure = await command(argv, text);
  return failure && { message: `${commandText(argv)} ${failure.end}`, actual: failure.printed };
}

/** A way that takes too long is one that is not met: another may be. */
async function anyMismatch(
  options: readonly (readonly Expectation[])[],
  answer: Answer,
  tools: ExpectationTools,
): Promise<Unmet | undefined> {
  const messages: string[] = [];
  for (const option of options) {
    const unmet: string[] = [];
    for (const expectation of option) {
      const mismatch = await checkExpectation(expectation, answer, tools);
      if (mismatch !== undefined) unmet.push(mismatch.message);
    }
    if (unmet.length === 0) return undefined;
    messages.push(...unmet);
  }
  return { message: `meets none of these: ${messages.join('; ')}`, actual: answer.text };
}

function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
