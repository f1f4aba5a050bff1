import type { YamlValue } from '../../../files/formats/yaml.ts';
import { readInputText, readNumber, requireText, testFileError } from '../cases/test-values.ts';
import { type CheckedAnswer, checkExpectation, type Expectation } from './expectation.ts';
import {
  createExpectationKind,
  type ExpectationKind,
  quoteExcerpt,
  SCALAR_SCHEMA,
  TEXT_SCHEMA,
  type UnplacedExpectation,
} from './expectation-kind.ts';
import { JAVASCRIPT_KIND } from './javascript-kind.ts';
import { JSON_KINDS } from './json-kinds.ts';
import { JUDGED_KINDS } from './judged-kinds.ts';
import { TEXT_KINDS } from './text-kinds.ts';

/** A program that checks answers. */
interface CheckCommand {
  readonly argv: readonly [string, ...string[]];
  /** True if its input is the answer with promptfoo's context, as JSON. */
  readonly isAsPromptfoo: boolean | undefined;
}

const ONE_EXPECTATION = { $ref: '#/$defs/expectation' };

/** The keys that an expectation can have. */
export const EXPECTATION_KINDS = {
  ...JSON_KINDS,
  ...TEXT_KINDS,
  not: createExpectationKind<Expectation>({
    schema: { ...ONE_EXPECTATION, description: 'an expectation that must not be met' },
    read: async (value, { readInner }) => {
      const [expectation, ...furtherExpectations] = await readInner(value);
      if (expectation === undefined || furtherExpectations.length > 0) {
        throw testFileError(value, 'not takes one expectation');
      }
      return expectation;
    },
    formatText: ({ text }) => text,
    deriveProperties: expectation => ({ innerExpectations: [expectation] }),
    findMismatch: async (expectation, answer) =>
      (await expectation.findMismatch(answer)) === undefined
        ? { message: `matches, but must not: ${expectation.text}`, actual: answer.text }
        : undefined,
  }),
  any: createExpectationKind<readonly (readonly Expectation[])[]>({
    schema: {
      type: 'array',
      items: ONE_EXPECTATION,
      minItems: 1,
      description: 'expectations, at least one of which must be met',
    },
    read: async (value, { readInner }) => {
      const options = value.isList ? await mapInOrder(value.readItems('any'), readInner) : [];
      if (options.length > 0) return options;
      throw testFileError(
        value,
        'any needs a list of expectations, at least one of which must be met',
      );
    },
    formatText: options =>
      `of ${options
        .flat()
        .map(alternative => alternative.text)
        .join(', ')}`,
    deriveProperties: options => ({ innerExpectations: options.flat() }),
    // An option that takes too long counts as not met, because another may be met.
    findMismatch: async (options, answer) => {
      const messages: string[] = [];
      for (const option of options) {
        const mismatches = await mapInOrder(option, alternative =>
          checkExpectation(alternative, answer),
        );
        const mismatchMessages = mismatches.flatMap(mismatch => mismatch?.message ?? []);
        if (mismatchMessages.length === 0) return undefined;
        messages.push(...mismatchMessages);
      }
      return { message: `matches none of these: ${messages.join('; ')}`, actual: answer.text };
    },
  }),
  seconds: createAmountKind(
    'the maximum time of the run, in seconds',
    async (maxSeconds, { seconds }) => {
      if (seconds === null) return `the time is unknown, so it may be more than ${maxSeconds} s`;
      const duration = Math.max(seconds, 0.001); // known to the millisecond, and no run takes none
      return duration <= maxSeconds
        ? undefined
        : `took ${Number(duration.toPrecision(3))} s, more than ${maxSeconds} s`;
    },
  ),
  tokens: createAmountKind(
    'the maximum number of service tokens of the run',
    async (maxTokens, { tokens }) =>
      tokens <= maxTokens ? undefined : `took ${tokens} tokens, more than ${maxTokens}`,
  ),
  cost: createAmountKind('the maximum cost of the run, in US dollars', async (maxCost, answer) => {
    const dollars = await answer.readDollars();
    if (dollars === undefined) {
      const advice = answer.isUnpriced() ? '; give the model a price in models.yaml' : '';
      return `the cost is unknown, so it may be more than $${formatDecimal(maxCost)}${advice}`;
    }
    return dollars <= maxCost
      ? undefined
      : `cost $${formatDecimal(dollars)}, more than $${formatDecimal(maxCost)}`;
  }),
  ...JUDGED_KINDS,
  javascript: JAVASCRIPT_KIND,
  command: createExpectationKind<CheckCommand>({
    schema: {
      anyOf: [TEXT_SCHEMA, { type: 'array', items: SCALAR_SCHEMA, minItems: 1 }],
      description:
        'a program that must end with 0; the answer is its standard input (--allow-commands)',
    },
    read: (value, { key, isAsPromptfoo }) => {
      if (!value.isList) {
        return { argv: toShellCommand(requireText(value, key), value), isAsPromptfoo };
      }

      const [program, ...args] = value.readItems(key).map(item => readInputText(item, key));
      if (program === undefined || program === '') {
        throw testFileError(value, 'command names no program');
      }

      return { argv: [program, ...args], isAsPromptfoo };
    },
    formatText: ({ argv }) => formatCommand(argv),
    deriveProperties: () => ({ runsProgram: true }),
    findMismatch: async (
      { argv, isAsPromptfoo },
      { runCommand, text, value: output, buildContext },
    ) => {
      const input = isAsPromptfoo
        ? JSON.stringify({ output, context: await buildContext({ needsPrompt: true }) })
        : text;
      const failure = await runCommand(argv, input);
      return (
        failure && { message: `${formatCommand(argv)} ${failure.endText}`, actual: failure.output }
      );
    },
  }),
} as const;

function createAmountKind(
  description: string,
  explainExcess: (maximum: number, answer: CheckedAnswer) => Promise<string | undefined>,
): ExpectationKind<number> {
  return createExpectationKind({
    schema: { type: 'number', minimum: 0, description },
    read: (value, { key }) => readNumber(value, key, 'a number of 0 or more'),
    formatText: String,
    findMismatch: async (maximum, answer) => {
      const message = await explainExcess(maximum, answer);
      return message === undefined ? undefined : { message };
    },
  });
}

function toShellCommand(line: string, value: YamlValue): readonly [string, ...string[]] {
  if (process.platform !== 'win32') return ['sh', '-c', line];
  throw testFileError(
    value,
    'Windows has no `sh`: write command as a list, such as [node, check.js]',
  );
}

/** Returns a command as the test file has it. */
function formatCommand(argv: readonly string[]): string {
  return quoteExcerpt(argv[0] === 'sh' && argv[1] === '-c' ? (argv[2] ?? '') : argv.join(' '));
}

/** Creates an expectation of a kind at its place in the file. */
export function createExpectation(
  name: keyof typeof EXPECTATION_KINDS,
  expectation: UnplacedExpectation,
  { line, at }: Pick<Expectation, 'line' | 'at'>,
): Expectation {
  return { kind: name, ...expectation, text: `${name} ${expectation.text}`.trimEnd(), line, at };
}

/** Formats an amount without an exponent. */
function formatDecimal(amount: number): string {
  return amount.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 });
}

/** Maps items one after the other. */
export async function mapInOrder<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await map(item));
  return results;
}
