import {
  findOwnValue,
  isJsonList,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import type { PromptfooProvider } from '../providers/promptfoo-provider.ts';
import type { ConfiguredTest, ConfiguredTests, VariableValue } from './configured-test.ts';
import { readVariableValues } from './read-variables.ts';

/** Matches code that reads the id that is new each time the tests are run. */
const READS_FRESH_ID = /\buuid\b/u;

/** Returns tests with the values that the code in their `transformVars` gives their variables. */
export function withTransformedVars(
  tests: readonly ConfiguredTest[],
  conversion: ConversionContext,
): ConfiguredTest[] {
  const transformCodes = new Set(tests.map(findTransformCode).filter(code => code !== undefined));
  const transformedTests = new Map(
    [...transformCodes].flatMap(code => {
      const testsWithCode = tests.filter(test => findTransformCode(test) === code);
      return transformTests(code, testsWithCode, conversion);
    }),
  );
  return tests.map(test => transformedTests.get(test) ?? test);
}

/** Returns the code of a test's `transformVars`; undefined if it is empty or missing. */
function findTransformCode({ options }: ConfiguredTest): string | undefined {
  return options.transformVars?.scalar || undefined;
}

/** Returns each test whose variables the code changes, with the changed test. */
function transformTests(
  code: string,
  tests: readonly ConfiguredTest[],
  conversion: ConversionContext,
): (readonly [test: ConfiguredTest, changedTest: ConfiguredTest])[] {
  const place = tests[0]?.options.transformVars;
  if (!place) return [];

  if (reportUnusableCode(code, place, conversion)) {
    return tests.map(test => [test, { ...test, isLeftOut: true }]);
  }

  const varsBefore = tests.map(({ vars }) =>
    Object.fromEntries([...vars].map(([name, values]) => [name, toCodeInput(values)])),
  );
  const results = requestTransformResults(code, varsBefore, place, conversion);
  if (!results) return [];

  return tests.map((test, index) => {
    const result = results[index];
    const vars = findOwnValue(result, 'vars');
    const freshIdVariables = findOwnValue(result, 'freshIdVariables');
    for (const name of isJsonList(freshIdVariables) ? freshIdVariables.map(String) : []) {
      conversion.freshIdVariables.set(name, place);
    }

    if (!isJsonObject(vars)) {
      conversion.reportOmission(place, '`transformVars` returns no object');
      return [test, { ...test, isLeftOut: true }];
    }

    const change = { before: varsBefore[index] ?? {}, after: vars, place };
    return [test, withChangedVars(test, change, conversion)];
  });
}

/** Reports code that has no equivalent, and returns true; false for any other. */
function reportUnusableCode(
  code: string,
  place: SourcePlace,
  conversion: ConversionContext,
): boolean {
  const omissionsBefore = conversion.omissionCount;
  conversion.reportNodeOnlyCode(code, place);

  if (code.startsWith('file://') || mentionsEnvironment(code)) {
    conversion.reportOmission(
      place,
      '`transformVars` has an equivalent only for code that uses the variables',
    );
  }

  return conversion.omissionCount > omissionsBefore;
}

/**
 * Returns the results of the code for each test. If it has not run yet, returns undefined: the
 * caller of the conversion runs it, and converts once more with its output.
 */
function requestTransformResults(
  code: string,
  varsOfTests: JsonValue,
  place: SourcePlace,
  conversion: ConversionContext,
): readonly JsonValue[] | undefined {
  const program = {
    code: buildTransformCode(code),
    input: varsOfTests,
    line: conversion.findConfigurationLine(place) ?? 1,
  };
  const output = conversion.requestOutput({ name: JSON.stringify(program), ...program });
  const results = parseJson(output ?? '');
  return isJsonList(results) ? results : undefined;
}

/**
 * Returns the value that the code gets: promptfoo runs it before it makes cases of lists and reads
 * files. A pattern of file names, which every value has as its file, is one value.
 */
function toCodeInput(values: readonly VariableValue[]): JsonValue {
  const [firstValue] = values;
  const inputs = values.map(({ file, json }) => file ?? json);
  const isPattern =
    firstValue?.file !== undefined && values.every(({ file }) => file === firstValue.file);
  return isPattern || inputs.length === 1 ? (inputs[0] ?? null) : inputs;
}

/**
 * Returns code that transforms each set of variables like promptfoo. If it reads the fresh id, it
 * runs with two of them, which shows the variables that depend on it.
 */
function buildTransformCode(code: string): string {
  return `const transform = function (vars, context) {
${code.includes('\n') ? code : `return ${code}`}
};
const transformWithId = (vars, digit) => {
  const uuid = 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, digit);
  return transform({ ...vars }, { prompt: {}, uuid });
};
return Promise.all(output.map(async vars => {
  const result = await transformWithId(vars, '1');
  const otherResult = ${READS_FRESH_ID.test(code)} ? await transformWithId(vars, '2') : result;
  const freshIdVariables = Object.keys(result ?? {}).filter(
    name => JSON.stringify(result[name]) !== JSON.stringify(otherResult?.[name]),
  );
  return { vars: result, freshIdVariables };
}));`;
}

/**
 * Reports the variables with a fresh id that are used, and returns true if there are any. With a
 * new id, a resumed test would pay again.
 */
export function reportUsedFreshIds(
  { tests }: Pick<ConfiguredTests, 'tests'>,
  { program, text }: { readonly program?: unknown; readonly text: string },
  providers: readonly PromptfooProvider[],
  conversion: ConversionContext,
): boolean {
  const { freshIdVariables, requestBodies } = conversion;
  if (freshIdVariables.size === 0) return false;

  const readsAllVariables =
    program !== undefined || providers.some(({ entry }) => entry && 'program' in entry);
  const texts = collectTexts([
    text,
    providers.map(({ entry, transform }) => [entry, transform]),
    tests.map(listVariableReaders),
    [...requestBodies.values()].map(({ template }) => template),
  ]);

  const usedVariables = [...freshIdVariables].filter(
    ([name]) => readsAllVariables || texts.some(readerText => includesWord(readerText, name)),
  );
  for (const [name, place] of usedVariables) {
    conversion.reportOmission(
      place,
      `\`${name}\` has an id that is new for each run, which has no equivalent`,
    );
  }

  return usedVariables.length > 0;
}

/** Returns the parts of a test that can use variables. */
function listVariableReaders({ vars, asserts, options }: ConfiguredTest): unknown[] {
  return [
    [...vars.values()].flat().map(({ text, json, file }) => [text, json, file]),
    asserts.map(
      assertion => assertion && Object.values({ ...assertion, place: undefined, type: undefined }),
    ),
    options.transform,
  ];
}

/**
 * Returns every text within a value, and the keys that are templates. Other keys, such as `url`,
 * are the format's own and may equal the name of a variable.
 */
function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const templateKeys = Object.keys(value).filter(key => key.includes('{{'));
  return [...templateKeys, ...Object.values(value).flatMap(collectTexts)];
}

/**
 * Returns true if a text has a word that is not part of a longer one. An escape such as `\n` before
 * it does not count as a part of it.
 */
function includesWord(text: string, word: string): boolean {
  const parts = text.replaceAll(/\\[nrt]/gu, ' ').split(word);
  return parts
    .slice(1)
    .some(
      (after, index) =>
        !/[\p{L}\p{N}_]$/u.test(parts[index] ?? '') && !/^[\p{L}\p{N}_]/u.test(after),
    );
}

/** The variables of a test before and after its code has run. */
interface VariableChange {
  readonly before: Readonly<Record<string, JsonValue>>;
  readonly after: Readonly<Record<string, JsonValue>>;
  readonly place: SourcePlace;
}

/** Returns a test with the values that its code has changed. */
function withChangedVars(
  test: ConfiguredTest,
  { before, after, place }: VariableChange,
  conversion: ConversionContext,
): ConfiguredTest {
  const changedVars = Object.entries(after).filter(
    ([name, value]) =>
      !conversion.freshIdVariables.has(name) &&
      JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  const values = readMergedValues(
    parseYaml(JSON.stringify(Object.fromEntries(changedVars)), place.line, place.file),
    'vars',
  );
  const changedValues = [...values].map(
    ([name, value]) => [name, readVariableValues(name, value, conversion)] as const,
  );
  return { ...test, vars: new Map([...test.vars, ...changedValues]) };
}
