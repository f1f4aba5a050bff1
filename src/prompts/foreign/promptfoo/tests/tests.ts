import { faultAt } from '../../../../files/formats/file-fault.ts';
import { type JsonValue, parseJson } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { groupedDigits } from '../../../../utils/grouped-digits.ts';
import { BOUNDS } from '../../../bounds.ts';
import { isJudged, type WrittenJudge } from '../assertions/assertion.ts';
import { readPromptfooJudge } from '../assertions/read-assertions.ts';
import { type Conversion, type KnownKeys, valuesByKey } from '../conversion.ts';
import { renderVar } from '../fill-variables.ts';
import { includesPrompt, type PromptNames } from '../prompt-references.ts';
import { type RunSettings, readRunSettings } from '../run-settings.ts';
import type { Located } from '../source-files.ts';
import {
  type ConfiguredTest,
  combinationCount,
  EMPTY_TEST,
  mergeTests,
  withConversation,
} from './configured-test.ts';
import { isTestSetting, NEEDED, readTest } from './read-test.ts';
import { readTestList } from './test-files.ts';
import { withTransformedVars } from './transform-vars.ts';

/** The tests of a configuration, before variables are filled in. */
export interface ConfiguredTests {
  readonly all: readonly ConfiguredTest[];
  readonly at: Located;
  readonly settings: RunSettings;
  readonly names: readonly string[];
}

/** Reads the tests of a configuration with these prompts. */
export async function readTests(
  entries: ReadonlyMap<string, YamlValue>,
  prompts: readonly PromptNames[],
  conversion: Conversion,
): Promise<ConfiguredTests> {
  const common = readDefaultTest(entries.get('defaultTest'), conversion);
  const leftOutBefore = conversion.leftOut;
  const listedTests = withoutBare(await readTestList(entries.get('tests'), conversion), conversion);
  const tests = [...listedTests, ...(await readScenarios(entries.get('scenarios'), conversion))];
  // Without tests, promptfoo asks each prompt once, but not in place of tests that are left out.
  const areLeftOut = conversion.isForTest && conversion.leftOut > leftOutBefore;
  const isAskedOnce = conversion.isForTest ? !entries.has('scenarios') : isTested(common);
  const askedTests = tests.length === 0 && isAskedOnce && !areLeftOut ? [EMPTY_TEST] : tests;
  const mergedTests = withTransformedVars(
    askedTests.map(test => withConversation(mergeTests(common, test))),
    conversion,
  );
  const allTests = withPrompts(withJudges(mergedTests, conversion), prompts, conversion);
  const [root] = entries.values();
  const at = entries.get('tests') ?? root ?? { line: 1, column: 1 };
  const count = allTests.reduce((sum, { vars }) => sum + combinationCount(vars), 0);
  if (count > BOUNDS.cases) {
    throw faultAt(at, `its lists produce more than ${groupedDigits(BOUNDS.cases)} cases`);
  }
  const names = [...new Set(allTests.flatMap(({ vars }) => [...vars.keys()]))];
  return { all: allTests, at, settings: readRunSettings(entries, conversion), names };
}

/** Returns true if the test that all tests share has something to test. */
function isTested({ asserts, vars }: ConfiguredTest): boolean {
  return asserts.length > 0 || vars.size > 0;
}

/** Leaves out the tests without anything, which promptfoo refuses. Those of a scenario get variables from it. */
function withoutBare(tests: readonly ConfiguredTest[], conversion: Conversion): readonly ConfiguredTest[] {
  if (!conversion.isForTest) return tests;
  const keys = NEEDED.map(key => `\`${key}\``).join(', ');
  return tests.map(test => {
    if (test.isBare !== true) return test;
    conversion.note(test.at ?? { line: 1, column: 1 }, `promptfoo refuses a test with none of ${keys}`);
    return { ...test, isLeftOut: true };
  });
}

/** Leaves out the tests with a reference to no prompt, which promptfoo refuses. */
function withPrompts(
  tests: readonly ConfiguredTest[],
  prompts: readonly PromptNames[],
  conversion: Conversion,
): ConfiguredTest[] {
  return tests.map(test => {
    const unknownPrompt = test.prompts?.find(
      reference => !prompts.some(prompt => includesPrompt([reference], prompt)),
    );
    if (unknownPrompt === undefined) return test;
    conversion.note(test.at ?? { line: 1, column: 1 }, `no prompt is called \`${unknownPrompt}\``);
    return { ...test, prompts: undefined, isLeftOut: true };
  });
}

/** Reads the judges of tests with an assertion that asks the judge of its test. */
function withJudges(tests: readonly ConfiguredTest[], conversion: Conversion): ConfiguredTest[] {
  const judgesByValue = new Map<
    YamlValue,
    { readonly judge: WrittenJudge | undefined; readonly isLeftOut: boolean }
  >();
  return tests.map(test => {
    const { asserts, options } = test;
    const { provider } = options;
    const asksItsJudge = asserts.some(
      assertion => assertion && isJudged(assertion) && assertion.judge === undefined,
    );
    if (!provider || !asksItsJudge) return test;
    const leftOutBefore = conversion.leftOut;
    const judgeReading = judgesByValue.get(provider) ?? {
      judge: readPromptfooJudge(provider, conversion),
      isLeftOut: conversion.leftOut > leftOutBefore,
    };
    judgesByValue.set(provider, judgeReading);
    const { judge, isLeftOut } = judgeReading;
    return { ...test, options: { ...options, judge }, isLeftOut: test.isLeftOut || isLeftOut };
  });
}

function readDefaultTest(node: YamlValue | undefined, conversion: Conversion): ConfiguredTest {
  return node ? readTest(conversion.files.valueOrFile(node), conversion, { isDefault: true }) : EMPTY_TEST;
}

/** Returns the settings in the options of `defaultTest`, which promptfoo sends to every provider. */
export function settingsOfAllTests(
  node: YamlValue | undefined,
  conversion: Conversion,
): Map<string, YamlValue> {
  if (!node || !conversion.isForTest) return new Map();
  const options = valuesByKey(conversion.files.valueOrFile(node), 'defaultTest').get('options');
  const entries =
    options && !options.isEmpty ? valuesByKey(options, 'options') : new Map<string, YamlValue>();
  return new Map([...entries].filter(([key]) => isTestSetting(key, conversion)));
}

const SCENARIO_KEYS: KnownKeys = { known: ['config', 'tests', 'description'], unsupported: [] };

/** Returns the items of a list of scenarios, with those of the files that it names. */
function scenarioItems(node: YamlValue, conversion: Conversion): YamlValue[] {
  const value = conversion.files.valueOrFile(node);
  return value.isList ? value.items('scenarios').flatMap(item => scenarioItems(item, conversion)) : [value];
}

/** Combines each configuration of variables with each test. */
async function readScenarios(node: YamlValue | undefined, conversion: Conversion): Promise<ConfiguredTest[]> {
  if (!node) return [];
  const combinedTests: ConfiguredTest[] = [];
  let count = 0;
  for (const item of scenarioItems(node, conversion)) {
    const entries = valuesByKey(item, 'a scenario');
    conversion.noteKeys(entries, SCENARIO_KEYS, ' of a scenario');
    const configs = await readTestList(entries.get('config'), conversion);
    const tests = await readTestList(entries.get('tests'), conversion);
    const testsOrEmpty = tests.length > 0 ? tests : [EMPTY_TEST];
    if (combinedTests.length + configs.length * testsOrEmpty.length > BOUNDS.cases) {
      throw faultAt(node, `its scenarios produce more than ${groupedDigits(BOUNDS.cases)} cases`);
    }
    for (const { provider } of [...configs, ...tests]) {
      if (provider) conversion.note(provider, '`provider` of a test of a scenario has no equivalent');
    }
    for (const config of configs) {
      const scenario = count;
      combinedTests.push(...testsOrEmpty.map(test => ({ ...mergeTests(config, test), scenario })));
      count += 1;
    }
  }
  return combinedTests;
}

export function variablesWith({ all }: ConfiguredTests, isOfKind: (value: JsonValue) => boolean): string[] {
  const vars = all.flatMap(test => [...test.vars]);
  return vars.filter(([, values]) => values.some(({ json }) => isOfKind(json))).map(([name]) => name);
}

/** Returns true if a test has a value that equals a text in Nunjucks but not as a text, or the other way round. */
export function comparesOtherwise({ all }: ConfiguredTests, name: string, text: string): boolean {
  return all.some(({ vars }) => {
    // A missing variable is undefined in Nunjucks, and an empty text here.
    const values = vars.get(name) ?? [{ text: '', json: null }];
    return values.some(({ json, text: own }) => equalsInNunjucks(json, text) !== (own === text));
  });
}

/** Compares as JavaScript's `==` does; undefined for lists and objects, which it compares as no JSON text. */
function equalsInNunjucks(value: JsonValue, text: string): boolean | undefined {
  if (value === null) return false;
  if (typeof value === 'object') return undefined;
  return typeof value === 'string' ? value === text : Number(value) === Number(text);
}

/** Returns the variables in which answers are kept for later tests. */
export function storedVariables({ all }: ConfiguredTests): string[] {
  return [...new Set(all.flatMap(({ options: { storesAs } }) => storesAs ?? []))];
}

/** Returns true if a variable takes more of Nunjucks than names of variables. @param used the variables of the prompt */
export function takesNunjucks({ all, names }: ConfiguredTests, used: readonly string[]): boolean {
  const known = Object.fromEntries(names.map(name => [name, '']));
  const values = all.flatMap(({ vars }) => used.flatMap(name => vars.get(name) ?? []));
  return values.some(({ text, at }) => at !== undefined && renderVar(text, known) === undefined);
}

/** Variables that are not a text in every test. */
export interface JsonVariables {
  readonly names: readonly string[];
  /** The variables with different values that are the same as text. */
  readonly mixed: readonly string[];
}

/**
 * Returns the variables that are not a text in every test: programs get another value, or none.
 *
 * @param missable those that a program doesn't get if a test lacks them; it gets any other as an empty text
 */
export function jsonVariables({ all }: ConfiguredTests, missable: readonly string[]): JsonVariables {
  const kinds = new Map<string, { hasJson: boolean; isAmbiguous: boolean }>();
  for (const [name, values] of all.flatMap(({ vars }) => [...vars])) {
    const kind = kinds.get(name) ?? { hasJson: false, isAmbiguous: false };
    for (const { text, json } of values) {
      if (typeof json !== 'string') kind.hasJson = true;
      // An empty text stands for no value.
      if (json === '' || json === null || (typeof json === 'string' && parseJson(text) !== undefined)) {
        kind.isAmbiguous = true;
      }
    }
    kinds.set(name, kind);
  }
  const json = [...kinds].filter(([, { hasJson }]) => hasJson);
  const missingNames = missable.filter(name => {
    const { hasJson = false, isAmbiguous = false } = kinds.get(name) ?? {};
    return !hasJson && !isAmbiguous && all.some(({ vars }) => !vars.has(name));
  });
  return {
    names: [...json.map(([name]) => name), ...new Set(missingNames)],
    mixed: json.filter(([, { isAmbiguous }]) => isAmbiguous).map(([name]) => name),
  };
}
