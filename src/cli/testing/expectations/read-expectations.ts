import { isMap } from 'yaml';
import { messageOf } from '../../../files/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { readSchema, type SchemaCheck } from '../../outputs/output-schema.ts';
import { checkQuery } from '../../outputs/query.ts';
import type { YamlPlace } from '../cases/yaml-place.ts';

/** One thing that is expected of what came back. */
export type Expectation = { readonly line: number } & (
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'jmespath'; readonly expression: string }
  | { readonly kind: 'contains'; readonly text: string }
  | { readonly kind: 'matches'; readonly pattern: string }
  | { readonly kind: 'schema'; readonly file: string; readonly check: SchemaCheck }
  | { readonly kind: 'equals'; readonly text: string }
  | { readonly kind: 'not'; readonly expectation: Expectation }
  | { readonly kind: 'seconds'; readonly most: number }
  | { readonly kind: 'rubric'; readonly text: string }
);

/** What came back, as expectations look at it. */
export interface Answer {
  /** Every text output, in order, a line break between two. */
  readonly text: string;
  /** From the creation to the end of the run. */
  readonly seconds: number;
}

/** An expectation that was not met. */
export interface Mismatch {
  /** Of the expectation, in the test file. */
  readonly line: number;
  readonly message: string;
  /** Both where a difference can be shown. */
  readonly expected?: string;
  readonly actual?: string;
}

/** Asks the judge whether a text satisfies a rubric. */
export type Judge = (
  rubric: string,
  text: string,
) => Promise<{ readonly passed: boolean; readonly reason: string }>;

/** The keys an expectation can have. */
export const EXPECTATIONS = [
  'json',
  'jmespath',
  'contains',
  'matches',
  'schema',
  'equals',
  'not',
  'seconds',
  'rubric',
] as const;

/** Reads the list under `expect`, checking everything that can be checked before anything is sent. */
export async function readExpectations(
  place: YamlPlace,
  node: unknown,
  ctx: Context,
): Promise<Expectation[]> {
  const items = isMap(node) ? [node] : place.list(node, 'expect');
  const expectations: Expectation[] = [];
  for (const item of items) {
    expectations.push(...(await readItem(place, item, ctx)));
  }
  if (expectations.length === 0) {
    throw place.fault(node, 'expect is empty: a case that expects nothing can not fail');
  }
  return expectations;
}

async function readItem(place: YamlPlace, node: unknown, ctx: Context): Promise<Expectation[]> {
  const entries = [...place.entries(node, 'an expectation', EXPECTATIONS)];
  if (entries.length === 0) {
    throw place.fault(node, `an expectation needs one of ${EXPECTATIONS.join(', ')}`);
  }
  return Promise.all(
    entries.map(async ([kind, { key, value }]) => readOne(place, { kind, key, value }, ctx)),
  );
}

interface Entry {
  readonly kind: string;
  readonly key: unknown;
  readonly value: unknown;
}

async function readOne(place: YamlPlace, { kind, key, value }: Entry, ctx: Context): Promise<Expectation> {
  const line = place.lineOf(key);
  switch (kind) {
    case 'json':
      return { kind, line, value: place.value(value) };
    case 'jmespath':
      return { kind, line, expression: await expressionOf(place, value) };
    case 'matches':
      return { kind, line, pattern: patternOf(place, value) };
    case 'schema':
      return { kind, line, ...(await schemaOf(place, value, ctx)) };
    case 'not':
      return { kind, line, expectation: await negated(place, value, ctx) };
    case 'seconds':
      return { kind, line, most: place.number(value, 'seconds') };
    case 'rubric':
      return { kind, line, text: place.text(value, 'rubric') };
    case 'contains':
      return { kind, line, text: place.text(value, 'contains') };
    default:
      return { kind: 'equals', line, text: place.inputText(value, 'equals') };
  }
}

async function negated(place: YamlPlace, node: unknown, ctx: Context): Promise<Expectation> {
  const [only, ...others] = await readItem(place, node, ctx);
  if (only === undefined || others.length > 0) {
    throw place.fault(node, 'not takes one expectation');
  }
  return only;
}

async function expressionOf(place: YamlPlace, node: unknown): Promise<string> {
  const expression = place.text(node, 'jmespath');
  try {
    await checkQuery(expression);
    return expression;
  } catch (error) {
    throw asFaultOf(place, node, error, /^--query: /u, 'jmespath: ');
  }
}

function patternOf(place: YamlPlace, node: unknown): string {
  const pattern = place.text(node, 'matches');
  try {
    return new RegExp(pattern, 'u').source && pattern;
  } catch (error) {
    throw place.fault(node, `matches: ${messageOf(error)}`);
  }
}

async function schemaOf(
  place: YamlPlace,
  node: unknown,
  ctx: Context,
): Promise<{ file: string; check: Extract<Expectation, { kind: 'schema' }>['check'] }> {
  const file = place.text(node, 'schema');
  try {
    return { file, check: await readSchema(ctx, file, 'schema') };
  } catch (error) {
    throw asFaultOf(place, node, error, /^schema: /u, 'schema: ');
  }
}

/** An error of what was read, with the place in the test file that named it. */
function asFaultOf(place: YamlPlace, node: unknown, error: unknown, prefix: RegExp, label: string): unknown {
  return error instanceof CliError
    ? place.fault(node, label + error.message.replace(prefix, ''), ...error.hints)
    : error;
}
