import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import {
  readInputText,
  readMapFields,
  readNumber,
  requireText,
  testFileError,
} from '../cases/test-values.ts';
import {
  type CheckedAnswer,
  checkExpectation,
  type Expectation,
  type JudgeRank,
} from './expectation.ts';
import {
  createExpectationKind,
  type ExpectationKind,
  type NamedJudge,
  quoteExcerpt,
  SCALAR_SCHEMA,
  TEXT_SCHEMA,
} from './expectation-kind.ts';
import { javascript } from './javascript-kind.ts';
import { JSON_KINDS } from './json-kinds.ts';
import { JUDGED_KINDS } from './judged-kinds.ts';
import { readScript } from './read-script.ts';
import { TEXT_KINDS } from './text-kinds.ts';
import { transformOutput } from './transform-output.ts';

/** A program that checks answers. */
interface Command {
  readonly argv: readonly [string, ...string[]];
  /** True if its input is the answer with promptfoo's context, as JSON. */
  readonly isAsPromptfoo: boolean | undefined;
}

const ONE_EXPECTATION = { $ref: '#/$defs/expectation' };

/** The keys that an expectation can have. */
export const KINDS = {
  ...JSON_KINDS,
  ...TEXT_KINDS,
  not: createExpectationKind<Expectation>({
    schema: { ...ONE_EXPECTATION, description: 'an expectation that must not be met' },
    read: async (value, { inner }) => {
      const [only, ...others] = await inner(value);
      if (only === undefined || others.length > 0) {
        throw testFileError(value, 'not takes one expectation');
      }
      return only;
    },
    text: ({ text }) => text,
    derived: expectation => ({ parts: [expectation] }),
    unmet: async (expectation, answer) =>
      (await expectation.unmet(answer)) === undefined
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
    read: async (value, { inner }) => {
      const options = value.isList ? await mapInOrder(value.items('any'), inner) : [];
      if (options.length > 0) return options;
      throw testFileError(
        value,
        'any needs a list of expectations, at least one of which must be met',
      );
    },
    text: options =>
      `of ${options
        .flat()
        .map(alternative => alternative.text)
        .join(', ')}`,
    derived: options => ({ parts: options.flat() }),
    // An option that takes too long counts as not met, because another may be met.
    unmet: async (options, answer) => {
      const messages: string[] = [];
      for (const option of options) {
        const mismatches = await mapInOrder(option, alternative =>
          checkExpectation(alternative, answer),
        );
        const unmet = mismatches.flatMap(mismatch => mismatch?.message ?? []);
        if (unmet.length === 0) return undefined;
        messages.push(...unmet);
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
    const dollars = await answer.dollars();
    if (dollars === undefined) {
      const advice = answer.isUnpriced() ? '; give the model a price in models.yaml' : '';
      return `the cost is unknown, so it may be more than $${formatDecimal(maxCost)}${advice}`;
    }
    return dollars <= maxCost
      ? undefined
      : `cost $${formatDecimal(dollars)}, more than $${formatDecimal(maxCost)}`;
  }),
  ...JUDGED_KINDS,
  javascript,
  command: createExpectationKind<Command>({
    schema: {
      anyOf: [TEXT_SCHEMA, { type: 'array', items: SCALAR_SCHEMA, minItems: 1 }],
      description:
        'a program that must end with 0; the answer is its standard input (--allow-commands)',
    },
    read: (value, { key, isAsPromptfoo }) => {
      if (!value.isList) {
        return { argv: toShellCommand(requireText(value, key), value), isAsPromptfoo };
      }

      const [program, ...args] = value.items(key).map(item => readInputText(item, key));
      if (program === undefined || program === '') {
        throw testFileError(value, 'command names no program');
      }

      return { argv: [program, ...args], isAsPromptfoo };
    },
    text: ({ argv }) => formatCommand(argv),
    derived: () => ({ isProgram: true }),
    unmet: async ({ argv, isAsPromptfoo }, { command, text, value: output, context }) => {
      const input = isAsPromptfoo
        ? JSON.stringify({ output, context: await context({ wantsPrompt: true }) })
        : text;
      const failure = await command(argv, input);
      return (
        failure && { message: `${formatCommand(argv)} ${failure.end}`, actual: failure.printed }
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
    text: String,
    unmet: async (maximum, answer) => {
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

export function createExpectation(
  name: keyof typeof KINDS,
  parts: ReturnType<(typeof KINDS.equals)['create']>,
  place: Pick<Expectation, 'line' | 'at'>,
): Expectation {
  return {
    kind: name,
    ...parts,
    text: `${name} ${parts.text}`.trimEnd(),
    line: place.line,
    at: place.at,
  };
}

/**
 * Reads the expectations under `expect`, a list or a single one, and checks everything that needs
 * no answer.
 *
 * @throws {CliError} USAGE_ERROR with file and line if an expectation is invalid
 */
export async function readExpectations(
  value: YamlValue,
  ctx: ExpectationsContext,
): Promise<Expectation[]> {
  const items = value.isMap ? [value] : value.items('expect');
  return (await mapInOrder(items, item => readExpectation(item, ctx))).flat();
}

/** Formats an amount without an exponent. */
function formatDecimal(dollars: number): string {
  return dollars.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 });
}

/** Reads a map with one or more kinds of expectations, and with modifiers of all of them. */
async function readExpectation(value: YamlValue, ctx: ExpectationsContext): Promise<Expectation[]> {
  const names = Object.keys(KINDS);
  const { isAsPromptfoo } = ctx;
  const modifierKeys = [...MODIFIERS, ...(isAsPromptfoo ? [CONFIG_KEY] : [])];
  const entries = readMapFields(value, 'an expectation', [...names, ...modifierKeys]);

  const kindEntries = [...entries].filter(([key]) => !modifierKeys.includes(key));
  if (kindEntries.length === 0) {
    const hints = entries.has('judge') ? ['judge names a model; rubric says what it judges.'] : [];
    throw testFileError(value, `an expectation needs one of ${names.join(', ')}`, ...hints);
  }

  const { judge, threshold, config, script } = await readModifiers(entries, ctx);
  const inner = (part: YamlValue): Promise<Expectation[]> =>
    readExpectation(part, { ...ctx, judge });

  return mapInOrder(kindEntries, async ([key, entry]) => {
    const name = key as keyof typeof KINDS;
    const reading = { ctx, key, inner, threshold, config, judge, isAsPromptfoo };
    const parts = await KINDS[name].read(entry.value, reading);
    const expectation = createExpectation(name, parts, { line: entry.line, at: entry.offset });
    return script ? onTransformed(expectation, script) : expectation;
  });
}

/** Reads the keys that change the checks of the expectations next to them. */
async function readModifiers(entries: YamlEntries, ctx: ExpectationsContext) {
  const [thresholdEntry, transform, judge] = MODIFIERS.map(key => entries.get(key));
  if (thresholdEntry && !entries.has('javascript') && !entries.has('rubric')) {
    throw testFileError(
      thresholdEntry,
      'threshold needs an expectation with a score: javascript or rubric',
    );
  }
  return {
    judge: judge ? readJudge(judge.value, ctx) : ctx.judge,
    threshold:
      thresholdEntry && readNumber(thresholdEntry.value, 'threshold', 'a number of 0 or more'),
    config: entries.get(CONFIG_KEY)?.value.json(),
    script: transform && (await readScript(transform.value, 'transform', ctx, ctx)),
  };
}

/** Reads a judge: a model, which has its own config in a configuration of promptfoo. */
export function readJudge(
  value: YamlValue,
  { judgeRank: rank, isAsPromptfoo }: Pick<ExpectationsContext, 'judgeRank' | 'isAsPromptfoo'>,
): NamedJudge {
  if (!isAsPromptfoo || !value.isMap) return { model: requireText(value, 'judge'), rank };
  const fields = readMapFields(value, 'a judge', ['model', 'config']);
  const [model = value, config] = [fields.get('model')?.value, fields.get('config')?.value.json()];

  return {
    model: requireText(model, 'judge'),
    rank,
    ...(isJsonObject(config) && { judgeConfig: config }),
  };
}

/** Keys next to an expectation's own that change its check. */
const MODIFIERS: readonly string[] = ['threshold', 'transform', 'judge'];

/** A key of promptfoo's assertions: the value that code sees as `context.config`. */
const CONFIG_KEY = 'config';

export interface ExpectationsContext extends Context, NamingFolder {
  /** The judge of expectations that name none. */
  readonly judge?: NamedJudge | undefined;
  /** True to treat results of code as promptfoo does. */
  readonly isAsPromptfoo?: boolean | undefined;
  /** The precedence of judges that are named next to an expectation. */
  readonly judgeRank?: JudgeRank | undefined;
}

/** Returns the expectation applied to the answer that the code transforms. */
function onTransformed(expectation: Expectation, script: JavaScript): Expectation {
  return {
    ...expectation,
    unmet: async answer => {
      const result = await transformOutput(answer, script);
      return 'unmet' in result ? result.unmet : await expectation.unmet(result.answer);
    },
  };
}

/** Maps items one after the other. */
async function mapInOrder<T, R>(items: readonly T[], make: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await make(item));
  return results;
}
