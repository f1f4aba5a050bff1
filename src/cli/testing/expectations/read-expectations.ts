import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import { readMapFields, readNumber, requireText, testFileError } from '../cases/test-values.ts';
import type { Expectation, JudgeRank } from './expectation.ts';
import type { NamedJudge } from './expectation-kind.ts';
import { createExpectation, EXPECTATION_KINDS, mapInOrder } from './expectation-kinds.ts';
import { readScript } from './read-script.ts';
import { transformOutput } from './transform-output.ts';

/** Keys next to an expectation's own that change its check. */
const MODIFIER_KEYS: readonly string[] = ['threshold', 'transform', 'judge'];

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
  const items = value.isMap ? [value] : value.readItems('expect');
  return (await mapInOrder(items, item => readExpectation(item, ctx))).flat();
}

/** Reads a map with one or more kinds of expectations, and with modifiers of all of them. */
async function readExpectation(value: YamlValue, ctx: ExpectationsContext): Promise<Expectation[]> {
  const kinds = Object.keys(EXPECTATION_KINDS);
  const { isAsPromptfoo } = ctx;
  const modifierKeys = isAsPromptfoo ? [...MODIFIER_KEYS, CONFIG_KEY] : MODIFIER_KEYS;
  const entries = readMapFields(value, 'an expectation', [...kinds, ...modifierKeys]);

  const kindEntries = [...entries].filter(([key]) => !modifierKeys.includes(key));
  if (kindEntries.length === 0) {
    const hints = entries.has('judge') ? ['judge names a model; rubric says what it judges.'] : [];
    throw testFileError(value, `an expectation needs one of ${kinds.join(', ')}`, ...hints);
  }

  const { judge, threshold, config, script } = await readModifiers(entries, ctx);
  const readInner = (innerValue: YamlValue): Promise<Expectation[]> =>
    readExpectation(innerValue, { ...ctx, judge });

  return mapInOrder(kindEntries, async ([key, entry]) => {
    const kind = key as keyof typeof EXPECTATION_KINDS;
    const reading = { ctx, key, readInner, threshold, config, judge, isAsPromptfoo };
    const unplaced = await EXPECTATION_KINDS[kind].read(entry.value, reading);
    const expectation = createExpectation(kind, unplaced, { line: entry.line, at: entry.offset });
    return script ? withTransform(expectation, script) : expectation;
  });
}

/** Reads the keys that change the checks of the expectations next to them. */
async function readModifiers(entries: YamlEntries, ctx: ExpectationsContext) {
  const thresholdEntry = entries.get('threshold');
  const transform = entries.get('transform');
  const judge = entries.get('judge');
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
    config: entries.get(CONFIG_KEY)?.value.toJson(),
    script: transform && (await readScript(transform.value, 'transform', ctx)),
  };
}

/** Returns the expectation applied to the answer that the code transforms. */
function withTransform(expectation: Expectation, script: JavaScript): Expectation {
  return {
    ...expectation,
    findMismatch: async answer => {
      const result = await transformOutput(answer, script);
      return 'mismatch' in result ? result.mismatch : await expectation.findMismatch(result.answer);
    },
  };
}

/** Reads a judge: a model, which has its own config in a configuration of promptfoo. */
export function readJudge(
  value: YamlValue,
  { judgeRank, isAsPromptfoo }: Pick<ExpectationsContext, 'judgeRank' | 'isAsPromptfoo'>,
): NamedJudge {
  if (!isAsPromptfoo || !value.isMap) return { model: requireText(value, 'judge'), judgeRank };
  const fields = readMapFields(value, 'a judge', ['model', 'config']);
  const model = fields.get('model')?.value ?? value;
  const config = fields.get('config')?.value.toJson();

  return {
    model: requireText(model, 'judge'),
    judgeRank,
    ...(isJsonObject(config) && { judgeConfig: config }),
  };
}
