import { faultAt } from '../../../../files/formats/file-fault.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { formatNumber } from '../../../../utils/format-number.ts';
import { BOUNDS } from '../../../bounds.ts';
import { isJudged, type JudgeSetting } from '../assertions/assertion.ts';
import { readPromptfooJudge } from '../assertions/read-assertions.ts';
import type { ConversionContext, KnownKeys } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { includesPrompt, type PromptNames } from '../prompts/prompt-references.ts';
import { readRunSettings } from '../run-settings.ts';
import {
  type ConfiguredTest,
  type ConfiguredTests,
  countCombinations,
  EMPTY_TEST,
  mergeTests,
  withConversation,
} from './configured-test.ts';
import { isTestSetting, REQUIRED_KEYS, readTest } from './read-test.ts';
import { readTestList } from './read-test-files.ts';
import { withTransformedVars } from './transform-variables.ts';

const SCENARIO_KEYS: KnownKeys = { supported: ['config', 'tests', 'description'], unsupported: [] };

/** Reads the tests of a configuration with these prompts. */
export async function readTests(
  entries: ReadonlyMap<string, YamlValue>,
  prompts: readonly PromptNames[],
  conversion: ConversionContext,
): Promise<ConfiguredTests> {
  const defaultTest = readDefaultTest(entries.get('defaultTest'), conversion);
  const ownTests = await readOwnTests(entries, defaultTest, conversion);
  const mergedTests = ownTests.map(test => withConversation(mergeTests(defaultTest, test)));
  const transformedTests = withTransformedVars(mergedTests, conversion);
  const judgedTests = readJudges(transformedTests, conversion);
  const allTests = leaveOutUnknownPrompts(judgedTests, prompts, conversion);

  const [root] = entries.values();
  const place = entries.get('tests') ?? root ?? { line: 1, column: 1 };
  const caseCount = allTests.reduce((sum, { vars }) => sum + countCombinations(vars), 0);
  if (caseCount > BOUNDS.cases) {
    throw faultAt(place, `its lists produce more than ${formatNumber(BOUNDS.cases)} cases`);
  }

  const variableNames = [...new Set(allTests.flatMap(({ vars }) => [...vars.keys()]))];
  return { tests: allTests, place, settings: readRunSettings(entries, conversion), variableNames };
}

/**
 * Reads the tests and scenarios. A configuration without any has one empty test, as in promptfoo,
 * unless tests were left out.
 */
async function readOwnTests(
  entries: ReadonlyMap<string, YamlValue>,
  defaultTest: ConfiguredTest,
  conversion: ConversionContext,
): Promise<readonly ConfiguredTest[]> {
  const omissionsBefore = conversion.omissionCount;
  const listedTests = await readTestList(entries.get('tests'), conversion);
  const validTests = leaveOutInvalid(listedTests, conversion);
  const scenarioTests = await readScenarios(entries.get('scenarios'), conversion);
  const tests = [...validTests, ...scenarioTests];
  if (tests.length > 0) return tests;

  if (!conversion.isForTest) return isTested(defaultTest) ? [EMPTY_TEST] : [];
  const isAskedOnce = !entries.has('scenarios') && conversion.omissionCount === omissionsBefore;
  return isAskedOnce ? [EMPTY_TEST] : [];
}

/** Returns true if `defaultTest` has something to test. */
function isTested({ asserts, vars }: ConfiguredTest): boolean {
  return asserts.length > 0 || vars.size > 0;
}

/** Leaves out the tests without any of the required keys, which promptfoo refuses. */
function leaveOutInvalid(
  tests: readonly ConfiguredTest[],
  conversion: ConversionContext,
): readonly ConfiguredTest[] {
  if (!conversion.isForTest) return tests;

  const keys = REQUIRED_KEYS.map(key => `\`${key}\``).join(', ');
  return tests.map(test => {
    if (test.isInvalid !== true) return test;

    conversion.reportOmission(
      test.place ?? { line: 1, column: 1 },
      `promptfoo refuses a test with none of ${keys}`,
    );
    return { ...test, isLeftOut: true };
  });
}

/** Leaves out the tests that name an unknown prompt, which promptfoo refuses. */
function leaveOutUnknownPrompts(
  tests: readonly ConfiguredTest[],
  prompts: readonly PromptNames[],
  conversion: ConversionContext,
): ConfiguredTest[] {
  return tests.map(test => {
    const unknownPrompt = test.prompts?.find(
      reference => !prompts.some(prompt => includesPrompt([reference], prompt)),
    );
    if (unknownPrompt === undefined) return test;

    conversion.reportOmission(
      test.place ?? { line: 1, column: 1 },
      `no prompt is called \`${unknownPrompt}\``,
    );
    return { ...test, prompts: undefined, isLeftOut: true };
  });
}

/** The result of reading a judge. */
interface JudgeReading {
  readonly judge: JudgeSetting | undefined;
  /** True if the judge has no equivalent. */
  readonly isLeftOut: boolean;
}

/** Adds the judges to tests with an assertion that a model judges and that names no model. */
function readJudges(
  tests: readonly ConfiguredTest[],
  conversion: ConversionContext,
): ConfiguredTest[] {
  const judgeReadings = new Map<YamlValue, JudgeReading>();
  return tests.map(test => {
    const { asserts, options } = test;
    const { provider } = options;
    const asksItsJudge = asserts.some(
      assertion => assertion && isJudged(assertion) && assertion.judge === undefined,
    );
    if (!provider || !asksItsJudge) return test;

    const omissionsBefore = conversion.omissionCount;
    const judgeReading = judgeReadings.get(provider) ?? {
      judge: readPromptfooJudge(provider, conversion),
      isLeftOut: conversion.omissionCount > omissionsBefore,
    };
    judgeReadings.set(provider, judgeReading);
    const { judge, isLeftOut } = judgeReading;

    return { ...test, options: { ...options, judge }, isLeftOut: test.isLeftOut || isLeftOut };
  });
}

/** Reads `defaultTest`, whose parts all tests share. */
function readDefaultTest(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): ConfiguredTest {
  return node
    ? readTest(conversion.files.readValueOrFile(node), conversion, { isDefault: true })
    : EMPTY_TEST;
}

/**
 * Returns the settings in the options of `defaultTest`, which promptfoo sends to every provider.
 */
export function readTestSettings(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): Map<string, YamlValue> {
  if (!node || !conversion.isForTest) return new Map();
  const defaultTest = readMergedValues(conversion.files.readValueOrFile(node), 'defaultTest');
  const options = defaultTest.get('options');
  const entries =
    options && !options.isEmpty
      ? readMergedValues(options, 'options')
      : new Map<string, YamlValue>();
  return new Map([...entries].filter(([key]) => isTestSetting(key, conversion)));
}

/** Returns the items of a list of scenarios, with those of the files that it names. */
function listScenarioItems(node: YamlValue, conversion: ConversionContext): YamlValue[] {
  const value = conversion.files.readValueOrFile(node);
  return value.isList
    ? value.readItems('scenarios').flatMap(item => listScenarioItems(item, conversion))
    : [value];
}

/** Reads scenarios: each of their configurations is combined with each of their tests. */
async function readScenarios(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): Promise<ConfiguredTest[]> {
  if (!node) return [];

  const combinedTests: ConfiguredTest[] = [];
  let scenarioNumber = 0;
  for (const item of listScenarioItems(node, conversion)) {
    const entries = readMergedValues(item, 'a scenario');
    conversion.reportKeys(entries, SCENARIO_KEYS, { owner: 'a scenario' });
    const configs = await readTestList(entries.get('config'), conversion);
    const tests = await readTestList(entries.get('tests'), conversion);
    const testsOrEmpty = tests.length > 0 ? tests : [EMPTY_TEST];
    if (combinedTests.length + configs.length * testsOrEmpty.length > BOUNDS.cases) {
      throw faultAt(node, `its scenarios produce more than ${formatNumber(BOUNDS.cases)} cases`);
    }

    for (const { provider } of [...configs, ...tests]) {
      if (provider) {
        conversion.reportOmission(provider, '`provider` of a test of a scenario has no equivalent');
      }
    }

    for (const config of configs) {
      const mergedTests = testsOrEmpty.map(test => mergeTests(config, test));
      for (const test of mergedTests) combinedTests.push({ ...test, scenarioNumber });
      scenarioNumber += 1;
    }
  }

  return combinedTests;
}
