import type { JsonObject, JsonValue } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { Assertion, JudgeSetting } from '../assertions/assertion.ts';
import type { SourcePlace } from '../files/source-files.ts';
import type { RunSettings } from '../run-settings.ts';

/** The tests of a configuration, before variables are filled in. */
export interface ConfiguredTests {
  readonly tests: readonly ConfiguredTest[];
  readonly place: SourcePlace;
  readonly settings: RunSettings;
  /** The names of all variables. */
  readonly variableNames: readonly string[];
}

/** A test before its lists are expanded and its variables filled in. */
export interface ConfiguredTest {
  readonly name: string | undefined;
  /** Undefined if it has no single position. */
  readonly place: SourcePlace | undefined;
  /** The variables; each of several values makes its own case. */
  readonly vars: ReadonlyMap<string, readonly VariableValue[]>;
  /** Undefined for an assertion that is left out. */
  readonly asserts: readonly (Assertion | undefined)[];
  readonly options: ConfiguredTestOptions;
  readonly metadata: JsonObject;
  /** The number of its scenario; undefined if it belongs to none. */
  readonly scenarioNumber?: number | undefined;
  /** References to its prompts; undefined for every prompt. */
  readonly prompts?: readonly string[] | undefined;
  /** References to the configuration's providers that it runs with; undefined for all of them. */
  readonly providers?: readonly string[] | undefined;
  /** The provider to use instead of the configuration's. */
  readonly provider?: YamlValue | undefined;
  /** The indices of the models to run it with; undefined for all. */
  readonly modelIndices?: readonly number[];
  /** True if something about the whole test has no equivalent. */
  readonly isLeftOut: boolean;
  /** True if promptfoo would not accept it as a test. */
  readonly isInvalid?: boolean;
}

/** A value of a variable. */
export interface VariableValue {
  /** The text that promptfoo makes of it: an object is `[object Object]`. */
  readonly text: string;
  /** The value for code. */
  readonly json: JsonValue;
  /** The place in the configuration; undefined for a value that is not a text. */
  readonly place?: SourcePlace;
  /** The name of the file whose content it is, as written. */
  readonly file?: string;
}

/** The `options` of a test. */
interface ConfiguredTestOptions {
  /** The code that makes other values of the variables. */
  readonly transformVars?: YamlValue | undefined;
  readonly transform?: string | undefined;
  /** The provider that judges, read only if an assertion needs it. */
  readonly provider?: YamlValue | undefined;
  /** The model that judges. */
  readonly judge?: JudgeSetting | undefined;
  /** The variable that keeps the answer for later tests. */
  readonly answerVariable?: string | undefined;
  /** True to leave the conversation out of its prompt. */
  readonly leavesOutConversation?: boolean | undefined;
  /** The number of its repetitions. */
  readonly repeat?: number | undefined;
}

/** A test without variables or assertions: promptfoo asks each prompt once. */
export const EMPTY_TEST: ConfiguredTest = {
  name: undefined,
  place: undefined,
  vars: new Map(),
  asserts: [],
  options: {},
  metadata: {},
  isLeftOut: false,
};

/** Returns a test with the parts of another, which override its own or are added to them. */
export function mergeTests(base: ConfiguredTest, override: ConfiguredTest): ConfiguredTest {
  return {
    name: override.name ?? base.name,
    place: override.place ?? base.place,
    vars: new Map([...base.vars, ...override.vars]),
    asserts: [...base.asserts, ...override.asserts],
    metadata: { ...base.metadata, ...override.metadata },
    scenarioNumber: override.scenarioNumber ?? base.scenarioNumber,
    prompts: override.prompts ?? base.prompts,
    providers: override.providers ?? base.providers,
    provider: override.provider ?? base.provider,
    options: {
      transformVars: override.options.transformVars ?? base.options.transformVars,
      transform: override.options.transform ?? base.options.transform,
      provider: override.options.provider ?? base.options.provider,
      answerVariable: override.options.answerVariable ?? base.options.answerVariable,
      leavesOutConversation:
        override.options.leavesOutConversation ?? base.options.leavesOutConversation,
      repeat: override.options.repeat ?? base.options.repeat,
    },
    isLeftOut: base.isLeftOut || override.isLeftOut,
  };
}

/**
 * Returns a test of a scenario with a conversation of that scenario, as in promptfoo, unless it
 * names one; any other test unchanged.
 */
export function withConversation(test: ConfiguredTest): ConfiguredTest {
  const { scenarioNumber, metadata } = test;
  if (scenarioNumber === undefined || (metadata['conversationId'] ?? null) !== null) return test;
  return { ...test, metadata: { ...metadata, conversationId: `__scenario_${scenarioNumber}__` } };
}

/** Returns the number of cases that the values of a test's variables make. */
export function countCombinations(vars: ConfiguredTest['vars']): number {
  return [...vars.values()].reduce((product, values) => product * values.length, 1);
}
