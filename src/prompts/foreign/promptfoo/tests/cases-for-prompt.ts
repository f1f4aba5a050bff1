import { faultAt } from '../../../../files/formats/file-fault.ts';
import { findOwnValue, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import type { ConvertedCase } from '../../converted-prompt.ts';
import type { TestFileCase } from '../../file-texts.ts';
import { type Assertion, isCheckedByCode } from '../assertions/assertion.ts';
import { convertAssertion } from '../assertions/convert-assertion.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { SourcePlace } from '../files/source-files.ts';
import { fillVariables } from '../nunjucks/fill-variables.ts';
import { includesPrompt } from '../prompts/prompt-references.ts';
import { CaseAnswers, findTurn, mentionsVariable, type UnlinkedTurn } from './case-turns.ts';
import { type ConfiguredTest, type ConfiguredTests, countCombinations } from './configured-test.ts';
import type { PromptNeeds } from './prompt-needs.ts';
import { renderInputs } from './render-inputs.ts';
import { type Combination, chooseCombination } from './variable-combinations.ts';

/** Maximum number of characters in the inputs of all cases together. */
const MAX_INPUT_CHARACTERS = 64 * 1024 * 1024;

/** A case of the test file, and where it comes from. */
interface LocatedCase extends ConvertedCase {
  readonly testCase: TestFileCase;
}

/** The cases of a prompt. */
export interface CasesForPrompt {
  readonly cases: readonly LocatedCase[];
  /** The number of cases that are left out. */
  readonly leftOutCaseCount: number;
}

/** Returns the cases for the inputs of a prompt, each with a value for every input. */
export function buildCases(
  { tests, place, settings: { repeat } }: ConfiguredTests,
  needs: PromptNeeds,
  conversion: ConversionContext,
): CasesForPrompt {
  const cases = new CaseList(place, conversion);
  for (const [index, test] of tests.entries()) {
    if (!includesPrompt(test.prompts, needs.prompt)) continue;

    const isTestLeftOut = test.isLeftOut && conversion.isForTest;
    const hasModels = test.modelIndices?.length !== 0;
    const turn = findTurn(test, index, needs, conversion);

    // Without the answer of a test that is left out, another prompt would be asked.
    const isLeftOut = isTestLeftOut || (hasModels && cases.lacksAnswerFor(turn));
    if (isLeftOut) cases.leaveOut(countCombinations(test.vars), hasModels ? turn : undefined);
    if (!hasModels) continue;

    const generatedCases = generateCases(test, index + 1, needs, conversion);
    if (isTestLeftOut) reportFaultsOfFirstCase(generatedCases, conversion);
    if (isLeftOut) continue;

    const line = (test.place && conversion.findConfigurationLine(test.place)) ?? place.line;
    for (const generatedCase of generatedCases) {
      cases.add(generatedCase, { line, test, turn, repeat });
    }
  }
  return cases;
}

/** The test that a case comes from. */
interface CaseOrigin {
  readonly line: number;
  readonly test: ConfiguredTest;
  readonly turn: UnlinkedTurn | undefined;
  /** The repetitions of a test that doesn't set its own. */
  readonly repeat: number | undefined;
}

/** Collects the cases, and counts those that are left out. */
class CaseList implements CasesForPrompt {
  readonly cases: LocatedCase[] = [];
  leftOutCaseCount = 0;
  readonly #answers = new CaseAnswers();
  readonly #size: InputSize;
  readonly #conversion: ConversionContext;

  constructor(place: SourcePlace, conversion: ConversionContext) {
    this.#size = new InputSize(place);
    this.#conversion = conversion;
  }

  /** Returns true if a turn uses the answer of a case that is left out. */
  lacksAnswerFor(turn: UnlinkedTurn | undefined): boolean {
    return this.#answers.lacksAnswerFor(turn);
  }

  /** Counts the cases of a test as left out. */
  leaveOut(count: number, turn: UnlinkedTurn | undefined): void {
    this.leftOutCaseCount += count;
    this.#answers.leaveOut(turn);
  }

  /** Adds a case. When the tests are run, one that is left out is only counted. */
  add(
    { isLeftOut, testCase, ...fields }: GeneratedCase,
    { line, test, turn, repeat }: CaseOrigin,
  ): void {
    this.#conversion.budget.countStep();

    if (isLeftOut && this.#conversion.isForTest) {
      this.leaveOut(1, turn);
      return;
    }

    this.#size.add(testCase.inputs);
    this.cases.push({
      ...fields,
      line,
      modelIndices: test.modelIndices,
      ...(turn && { turn: this.#answers.add(turn, this.cases.length) }),
      testCase: { ...testCase, repeat: countRepetitions(test, repeat) },
    });
  }
}

/**
 * Returns the number of repetitions of a test's cases, which its own option sets first; undefined
 * for one.
 */
function countRepetitions(
  { options }: ConfiguredTest,
  repeat: number | undefined,
): number | undefined {
  const count = options.repeat ?? repeat;
  return count === 1 ? undefined : count;
}

/** Reports the other faults of a test that is left out, which its first case shows. */
function reportFaultsOfFirstCase(
  cases: Iterator<GeneratedCase>,
  { budget }: ConversionContext,
): void {
  cases.next();
  budget.countStep();
}

/** The number of characters in the inputs of all cases. */
class InputSize {
  readonly #place: SourcePlace;
  #characters = 0;

  constructor(place: SourcePlace) {
    this.#place = place;
  }

  /** Adds the inputs of a case. @throws {FileFault} at the tests, past the maximum */
  add(inputs: Readonly<Record<string, string>>): void {
    this.#characters += Object.values(inputs).reduce((sum, input) => sum + input.length, 0);
    if (this.#characters > MAX_INPUT_CHARACTERS) {
      throw faultAt(this.#place, 'the inputs of its cases are larger than 64 MiB in total');
    }
  }
}

/** A case before it is placed among the others. */
type GeneratedCase = Omit<LocatedCase, 'line'> & { readonly isLeftOut: boolean };

/** Makes a case for each combination of the values of a test's variables. */
function* generateCases(
  test: ConfiguredTest,
  testNumber: number,
  needs: PromptNeeds,
  conversion: ConversionContext,
): Generator<GeneratedCase> {
  const combinationCount = countCombinations(test.vars);
  const hasCode = needs.hasCode || usesCode(test);

  const seesMetadata = hasCode && conversion.isForTest && Object.keys(test.metadata).length > 0;
  const { transform, judge } = test.options;

  for (let index = 0; index < combinationCount; index += 1) {
    const combination = chooseCombination(test.vars, index);
    const { texts, values } = combination;
    const name = test.name === undefined ? `case ${testNumber}` : fillVariables(test.name, texts);
    const expectationLists = test.asserts.map(assertion =>
      toExpectations(assertion, combination, conversion),
    );
    const { inputs, isLeftOut } = renderInputs(combination, needs, conversion);

    yield {
      isLeftOut,
      leftOutCheckCount: expectationLists.filter(expectations => expectations === undefined).length,
      vars: values,
      testCase: {
        name: combinationCount > 1 ? `${name} (${index + 1})` : name,
        inputs,
        vars: hasCode ? withoutInputs(values, inputs) : {},
        metadata: seesMetadata ? test.metadata : undefined,
        transform,
        judge,
        expect: expectationLists.filter(expectations => expectations !== undefined).flat(),
      },
    };
  }
}

/**
 * Returns true if code of a test sees its variables. Other assertions have their variables filled
 * in already.
 */
function usesCode({ options, asserts }: ConfiguredTest): boolean {
  return (
    options.transform !== undefined ||
    asserts.some(
      assertion => assertion && (assertion.transform !== undefined || isCheckedByCode(assertion)),
    )
  );
}

/** Returns the expectations of an assertion; undefined if the assertion is left out. */
function toExpectations(
  assertion: Assertion | undefined,
  combination: Combination,
  conversion: ConversionContext,
): JsonObject[] | undefined {
  if (!assertion || omitStoredVariable(assertion, conversion)) return undefined;
  return convertAssertion(assertion, combination, conversion);
}

/**
 * Reports an assertion with a variable that keeps the answer of an earlier case, and returns true;
 * false for any other.
 */
function omitStoredVariable(
  { place, value, transform }: Assertion,
  conversion: ConversionContext,
): boolean {
  const text = JSON.stringify([value ?? null, transform ?? null]);
  const storedName = conversion.variableNames.stored.find(name => mentionsVariable(text, name));
  if (storedName === undefined) return false;

  conversion.reportOmission(
    place,
    `an assertion with \`{{${storedName}}}\`, the answer of another test, has no equivalent`,
  );
  return true;
}

/** Returns the values that are not equal to an input with their name. */
function withoutInputs(
  vars: Readonly<Record<string, JsonValue>>,
  inputs: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(
    Object.entries(vars).filter(([name, value]) => value !== findOwnValue(inputs, name)),
  );
}
