import {
  findOwnValue,
  isJsonList,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import { parseYaml } from '../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import type { Assertion } from '../assertions/assertion.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import type { PromptfooProvider } from '../providers/promptfoo-provider.ts';
import type { ConfiguredTest, ConfiguredTests, VariableValue } from './configured-test.ts';
import { readVariableValues } from './read-variables.ts';

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

  if (omitUnusableTransform(code, place, conversion)) {
    return tests.map(test => [test, { ...test, isLeftOut: true }]);
  }

  const varsOfTests = tests.map(({ vars }) =>
    Object.fromEntries([...vars].map(([key, values]) => [key, toCodeInput(values)])),
  );
  const results = requestTransformResults(code, varsOfTests, place, conversion);
  if (!results) return [];

  return tests.map((test, index) => {
    const result = results[index];
    const vars = findOwnValue(result, 'vars');
    const ids = findOwnValue(result, 'ids');
    for (const name of isJsonList(ids) ? ids.map(String) : []) conversion.freshIds.set(name, place);

    if (!isJsonObject(vars)) {
      conversion.reportOmission(place, '`transformVars` returns no object');
      return [test, { ...test, isLeftOut: true }];
    }

    const change = { before: varsOfTests[index] ?? {}, after: vars, place };
    return [test, withChangedVars(test, change, conversion)];
  });
}

/** Reports code that has no equivalent, and returns true; false for any other. */
function omitUnusableTransform(
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

/** Returns the results of the code for each test; undefined until it has run. */
function requestTransformResults(
  code: string,
  input: JsonValue,
  place: SourcePlace,
  conversion: ConversionContext,
): readonly JsonValue[] | undefined {
  const program = {
    code: buildTransformCode(code),
    input,
    line: conversion.findConfigurationLine(place) ?? 1,
  };
  const output = conversion.requestOutput({ name: JSON.stringify(program), ...program });
  const results = parseJson(output ?? '');
  return isJsonList(results) ? results : undefined;
}

/**
 * Returns the value that the code gets: promptfoo runs it before it makes cases of lists and reads
 * files.
 */
function toCodeInput(values: readonly VariableValue[]): JsonValue {
  const [{ json, file } = { json: null }] = values;
  const isPattern = file !== undefined && values.every(value => value.file === file);
  if (values.length === 1 || isPattern) return file ?? json;
  return values.map(value => value.file ?? value.json);
}

/**
 * Returns code that transforms each set of variables like promptfoo, and names those that hold an
 * id of one run.
 */
function buildTransformCode(code: string): string {
  return `const one = function (vars, context) {
${code.includes('\n') ? code : `return ${code}`}
};
const withId = (vars, digit) => one({ ...vars }, { prompt: {}, uuid: 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, digit) });
return Promise.all(output.map(async vars => {
  const result = await withId(vars, '1');
  const other = ${/\buuid\b/u.test(code)} ? await withId(vars, '2') : result;
  const ids = Object.keys(result ?? {}).filter(key => JSON.stringify(result[key]) !== JSON.stringify(other[key]));
  return { vars: result, ids };
}));`;
}

/**
 * Reports the variables with an id of one run that are used, and returns true if there are any.
 * With a new id, a resumed test would pay again.
 */
export function omitFreshIds(
  { tests }: Pick<ConfiguredTests, 'tests'>,
  { program, text }: { readonly program?: unknown; readonly text: string },
  providers: readonly PromptfooProvider[],
  conversion: ConversionContext,
): boolean {
  const omissionsBefore = conversion.omissionCount;
  const testParts = tests.map(({ vars, asserts, options }) => [
    [...vars.values()].flat().map(omitPlace),
    asserts.map(assertion => assertion && omitPlace(assertion)),
    options.transform,
  ]);

  const providerParts = providers.map(({ entry, transform }) => [entry, transform]);
  const readsAllVariables =
    program !== undefined || providers.some(({ entry }) => entry && 'program' in entry);
  const bodies = [...conversion.requestBodies.values()].map(({ template }) => template);

  const searchedText = JSON.stringify([text, providerParts, testParts, bodies]);
  for (const [name, place] of conversion.freshIds) {
    if (!readsAllVariables && !searchedText.includes(name)) continue;
    conversion.reportOmission(
      place,
      `\`${name}\` has an id that is new for each run, which has no equivalent`,
    );
  }

  return conversion.omissionCount > omissionsBefore;
}

/** Returns a part of a test without its place, whose name could be that of a variable. */
function omitPlace(part: VariableValue | Assertion): object {
  return { ...part, place: undefined };
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
    ([key, value]) =>
      !conversion.freshIds.has(key) && JSON.stringify(value) !== JSON.stringify(before[key]),
  );
  const values = readMergedValues(
    parseYaml(JSON.stringify(Object.fromEntries(changedVars)), place.line, place.file),
    'vars',
  );
  const changedValues = [...values].map(
    ([key, value]) => [key, readVariableValues(key, value, conversion)] as const,
  );
  return { ...test, vars: new Map([...test.vars, ...changedValues]) };
}
