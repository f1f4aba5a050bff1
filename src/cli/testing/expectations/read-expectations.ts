import { isMap, isScalar, isSeq } from 'yaml';
import { messageOf } from '../../../files/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { checkNamedFile, NamedFileFault, type NamingFolder } from '../../inputs/named-file.ts';
import { readJsonFile, type SchemaCheck, schemaCheck } from '../../outputs/output-schema.ts';
import { checkQuery } from '../../outputs/query.ts';
import type { YamlPlace } from '../cases/yaml-place.ts';
import { EXPECTATIONS, type Expectation } from './expectation.ts';

/**
 * Reads the list under `expect`, checking everything that can be checked before anything is sent.
 *
 * @throws {CliError} USAGE_ERROR with file and line for what is wrong in it
 */
export async function readExpectations(
  place: YamlPlace,
  node: unknown,
  ctx: Context & NamingFolder,
): Promise<Expectation[]> {
  const expectations = (await readGroups(place, node, 'expect', ctx)).flat();
  if (expectations.length > 0) return expectations;
  throw place.fault(node, 'expect is empty: leave it out if the run must only succeed');
}

/** A list of expectations, or a single one. */
async function readGroups(
  place: YamlPlace,
  node: unknown,
  what: string,
  ctx: Context & NamingFolder,
): Promise<Expectation[][]> {
  const items = isMap(node) ? [node] : place.list(node, what);
  const groups: Expectation[][] = [];
  for (const item of items) groups.push(await readItem(place, item, ctx));
  return groups;
}

async function readItem(
  place: YamlPlace,
  node: unknown,
  ctx: Context & NamingFolder,
): Promise<Expectation[]> {
  const entries = [...place.entries(node, 'an expectation', EXPECTATIONS)];
  if (entries.length === 0) throw place.fault(node, `an expectation needs one of ${EXPECTATIONS.join(', ')}`);
  const expectations: Expectation[] = [];
  for (const [name, { key, value }] of entries) {
    const kind = EXPECTATIONS.find(known => known === name) ?? 'equals';
    const read = await readKind(place, { kind, value: value ?? key }, ctx);
    expectations.push({ ...read, line: place.lineOf(key), at: place.offsetOf(key) });
  }
  return expectations;
}

interface Entry {
  readonly kind: (typeof EXPECTATIONS)[number];
  readonly value: unknown;
}

type Unplaced<E> = E extends unknown ? Omit<E, 'line' | 'at'> : never;

async function readKind(
  place: YamlPlace,
  { kind, value }: Entry,
  ctx: Context & NamingFolder,
): Promise<Unplaced<Expectation>> {
  switch (kind) {
    case 'contains':
    case 'icontains':
    case 'startsWith':
    case 'istartsWith':
    case 'endsWith':
    case 'iendsWith':
      return { kind, text: place.word(value, kind) };
    case 'json':
      return { kind, value: place.value(value) };
    case 'jmespath':
      return { kind, expression: await expressionOf(place, value) };
    case 'matches':
      return { kind, pattern: patternOf(place, value) };
    case 'schema':
      return { kind, ...(await schemaOf(place, value, kind, ctx)) };
    case 'containsJson': {
      const isAny = isScalar(value) && value.value === true;
      return { kind, schema: isAny ? undefined : (await schemaOf(place, value, kind, ctx)).schema };
    }
    case 'not':
      return { kind, expectation: await negated(place, value, ctx) };
    case 'any':
      return { kind, options: await alternatives(place, value, ctx) };
    case 'seconds':
      return { kind, most: place.number(value, kind) };
    case 'tokens':
    case 'cost':
      return { kind, most: place.amount(value, kind) };
    case 'llm':
      return { kind, ...llmOf(place, value) };
    case 'command':
      return { kind, argv: argvOf(place, value) };
    case 'rubric':
      return { kind, text: place.text(value, kind) };
    case 'equals':
    default:
      return { kind: 'equals', text: place.inputText(value, kind) };
  }
}

async function negated(place: YamlPlace, node: unknown, ctx: Context & NamingFolder): Promise<Expectation> {
  const [only, ...others] = await readItem(place, node, ctx);
  if (only === undefined || others.length > 0) throw place.fault(node, 'not takes one expectation');
  return only;
}

async function alternatives(
  place: YamlPlace,
  node: unknown,
  ctx: Context & NamingFolder,
): Promise<Expectation[][]> {
  const options = isSeq(node) ? await readGroups(place, node, 'any', ctx) : [];
  if (options.length > 0) return options;
  throw place.fault(node, 'any needs a list of expectations, at least one of which must be met');
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

/** With the flag u, as patterns are usually written today; one that is only valid without it is read without. */
function patternOf(place: YamlPlace, node: unknown): RegExp {
  const pattern = place.text(node, 'matches');
  try {
    return new RegExp(pattern, 'u');
  } catch {
    try {
      // oxlint-disable-next-line require-unicode-regexp -- valid without the flag only
      return new RegExp(pattern);
    } catch (error) {
      throw place.fault(node, `matches: ${messageOf(error)}`);
    }
  }
}

/** A schema in a file of its own, or written where its name would stand. */
async function schemaOf(
  place: YamlPlace,
  node: unknown,
  key: string,
  ctx: Context & NamingFolder,
): Promise<{ name: string; schema: object | boolean; check: SchemaCheck }> {
  const isWritten = isMap(node) || (isScalar(node) && typeof node.value === 'boolean');
  const name = isWritten ? 'the schema' : place.text(node, key);
  const where = isWritten ? key : `${key}: ${name}`;
  try {
    if (!isWritten) await checkNamedFile(ctx, name);
    const schema = isWritten ? place.value(node) : await readJsonFile(ctx, name, key);
    const check = await schemaCheck(ctx, schema, where);
    return { name, schema: schema as object | boolean, check };
  } catch (error) {
    throw asFaultOf(place, node, error, new RegExp(`^${key}:? `, 'u'), `${key}: `);
  }
}

function llmOf(
  place: YamlPlace,
  node: unknown,
): Omit<Extract<Expectation, { kind: 'llm' }>, 'kind' | 'line' | 'at'> {
  const entries = place.entries(node, 'llm', ['prompt', 'systemPrompt', 'model', 'modelId', 'choices']);
  const textOf = (key: string): string | undefined => {
    const entry = entries.get(key);
    return entry && place.text(entry.value ?? entry.key, key);
  };
  const [prompt, systemPrompt, model] = [
    textOf('prompt'),
    textOf('systemPrompt'),
    textOf('model') ?? textOf('modelId'),
  ];
  const choices = entries.get('choices');
  if (prompt === undefined || choices === undefined) throw place.fault(node, 'llm needs prompt and choices');
  const read = place.list(choices.value ?? choices.key, 'choices').map(item => choiceOf(place, item));
  if (read.length === 0) throw place.fault(choices.key, 'choices is empty');
  return {
    prompt,
    choices: read,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(model !== undefined && { model }),
  };
}

function choiceOf(place: YamlPlace, node: unknown): { choice: string; score: number } {
  const entries = place.entries(node, 'a choice', ['choice', 'score']);
  const [choice, score] = [entries.get('choice'), entries.get('score')];
  if (choice === undefined || score === undefined) throw place.fault(node, 'a choice needs choice and score');
  const worth = place.value(score.value);
  if (typeof worth !== 'number' || !Number.isFinite(worth))
    throw place.fault(score.key, 'score must be a number');
  return { choice: place.word(choice.value ?? choice.key, 'choice'), score: worth };
}

function argvOf(place: YamlPlace, node: unknown): readonly [string, ...string[]] {
  if (!isSeq(node)) return ['sh', '-c', place.text(node, 'command')];
  const [program, ...args] = node.items.map(item => place.inputText(item, 'command'));
  if (program === undefined || program === '') throw place.fault(node, 'command names no program');
  return [program, ...args];
}

/** An error of what was read, with the place in the test file that named it. */
function asFaultOf(place: YamlPlace, node: unknown, error: unknown, prefix: RegExp, label: string): unknown {
  if (error instanceof NamedFileFault) return error.at(`${place.file}, line ${place.lineOf(node)}`);
  return error instanceof CliError && !error.message.startsWith(place.file)
    ? place.fault(node, label + error.message.replace(prefix, ''), ...error.hints)
    : error;
}
