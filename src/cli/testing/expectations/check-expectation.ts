import { messageOf } from '../../../files/error-utils.ts';
import { type Checks, PastBound } from '../../outputs/checks/checks.ts';
import { firstDifference, jsonOf, onlyExpected } from './json-match.ts';
import type { Answer, Expectation, Judge, Mismatch } from './read-expectations.ts';

/** What of an expectation was not met; undefined where all was. */
export async function checkExpectation(
  expectation: Expectation,
  answer: Answer,
  means: CheckMeans,
): Promise<Mismatch | undefined> {
  const found = await mismatchOf(expectation, answer, means).catch(pastBound);
  return found && { line: expectation.line, ...found };
}

/** What expectations are checked with. */
export interface CheckMeans {
  readonly judge: Judge;
  readonly checks: Pick<Checks, 'perform'>;
}

/** Whatever is expected: what could not be checked within the bounds was not met. */
function pastBound(error: unknown): Found {
  if (error instanceof PastBound) return { message: `the check ${error.message}` };
  throw error;
}

type Found = Omit<Mismatch, 'line'>;

async function mismatchOf(
  expectation: Expectation,
  answer: Answer,
  means: CheckMeans,
): Promise<Found | undefined> {
  const { text } = answer;
  switch (expectation.kind) {
    case 'json':
      return jsonMismatch(expectation.value, text);
    case 'jmespath':
      return expressionMismatch(expectation.expression, text, means);
    case 'contains':
      return text.includes(expectation.text)
        ? undefined
        : { message: `does not contain ${quoted(expectation.text)}`, actual: text };
    case 'matches':
      return (await means.checks.perform('matches', expectation.pattern, 'u', text))
        ? undefined
        : { message: `does not match /${expectation.pattern}/`, actual: text };
    case 'schema':
      return schemaMismatch(expectation, text);
    case 'equals':
      return sameText(expectation.text, text)
        ? undefined
        : { message: 'is not equal', expected: expectation.text, actual: text };
    case 'seconds':
      return answer.seconds <= expectation.most
        ? undefined
        : { message: `took ${answer.seconds.toFixed(1)} s, more than ${expectation.most} s` };
    case 'rubric': {
      const { passed, reason } = await means.judge(expectation.text, text);
      return passed ? undefined : { message: `rubric ${quoted(expectation.text)}: ${reason}`, actual: text };
    }
    case 'not':
      return (await mismatchOf(expectation.expectation, answer, means)) === undefined
        ? { message: `meets what it must not: ${describe(expectation.expectation)}`, actual: text }
        : undefined;
    default:
      throw new TypeError('an expectation of an unknown kind');
  }
}

const NOT_JSON = 'is not JSON';

function jsonMismatch(expected: unknown, text: string): Found | undefined {
  const json = jsonOf(text);
  if (json === undefined) {
    return { message: NOT_JSON, expected: pretty(expected), actual: text };
  }
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
  { checks }: CheckMeans,
): Promise<Found | undefined> {
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
  if (value === null || value === undefined || value === false || value === '') {
    return false;
  }
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

async function schemaMismatch(
  { file, check }: Extract<Expectation, { kind: 'schema' }>,
  text: string,
): Promise<Found | undefined> {
  const json = jsonOf(text);
  const mismatch = json === undefined ? { pointer: '', message: NOT_JSON } : await check(json.value);
  return mismatch === undefined
    ? undefined
    : {
        message: `does not match ${file} at ${JSON.stringify(mismatch.pointer)}: ${mismatch.message}`,
        actual: text,
      };
}

/** A line break at the end is how files and YAML blocks end, not part of what was meant. */
function sameText(expected: string, actual: string): boolean {
  return expected === actual || withoutLastBreak(expected) === withoutLastBreak(actual);
}

function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function describe(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'json':
      return `json ${JSON.stringify(expectation.value)}`;
    case 'jmespath':
      return `jmespath ${quoted(expectation.expression)}`;
    case 'matches':
      return `matches /${expectation.pattern}/`;
    case 'schema':
      return `schema ${expectation.file}`;
    case 'seconds':
      return `seconds ${expectation.most}`;
    case 'not':
      return `not ${describe(expectation.expectation)}`;
    case 'contains':
    case 'equals':
    case 'rubric':
      return `${expectation.kind} ${quoted(expectation.text)}`;
    default:
      throw new TypeError('an expectation of an unknown kind');
  }
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
