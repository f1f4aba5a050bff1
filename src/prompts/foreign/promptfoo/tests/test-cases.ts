import { faultAt } from '../../../../files/formats/file-fault.ts';
import { type JsonValue, ownValue } from '../../../../files/formats/json.ts';
import type { ConvertedCase, TestCaseText } from '../../converted.ts';
import type { Piece } from '../../template-pieces.ts';
import { type Assertion, isCode } from '../assertions/assertion.ts';
import { toExpectations } from '../assertions/expectations.ts';
import type { Conversion } from '../conversion.ts';
import { fillVars, isUnreadableNunjucks, renderVar } from '../fill-variables.ts';
import { includesPrompt, type PromptNames } from '../prompt-references.ts';
import type { Located } from '../source-files.ts';
import { CaseAnswers, namesVariable, writeTurn } from './case-turns.ts';
import { type Combination, combinationOfTest } from './combinations.ts';
import { type ConfiguredTest, combinationCount } from './configured-test.ts';
import { bodyText } from './request-bodies.ts';
import type { ConfiguredTests } from './tests.ts';

/** Maximum number of characters in all inputs of all cases. */
const MAX_INPUT_CHARACTERS = 64 * 1024 * 1024;

/** A case with its position in the configuration. */
interface LocatedCase extends ConvertedCase {
  readonly text: TestCaseText;
}

/** A prompt with its inputs. */
export interface CaseNeeds {
  readonly prompt: PromptNames;
  /** The Nunjucks that makes it; undefined if a prompt file expresses it. */
  readonly template: string | undefined;
  readonly inputs: readonly string[];
  /** The inputs that programs alone read, as JSON. */
  readonly jsonInputs: readonly string[];
  /** The inputs whose Nunjucks promptfoo renders. */
  readonly renderedInputs: readonly string[];
  /** True if promptfoo renders every variable, used or not. */
  readonly isEachRendered: boolean;
  /** The parts of the prompt if it is a text with variables. */
  readonly plainPrompt: readonly Exclude<Piece, { readonly tag: string }>[] | undefined;
  /** True if code sees the variables of every case. */
  readonly hasCode: boolean;
}

/** Returns the cases for the inputs of a prompt, each with a value for every input. */
export function casesForPrompt(
  { all, at, settings: { repeat } }: ConfiguredTests,
  needs: CaseNeeds,
  conversion: Conversion,
): { readonly cases: LocatedCase[]; readonly leftOut: number } {
  const { isForTest, budget } = conversion;
  const cases: LocatedCase[] = [];
  const answers = new CaseAnswers();
  const size = new InputSize(at);
  let leftOut = 0;
  for (const [index, test] of all.entries()) {
    if (!includesPrompt(test.prompts, needs.prompt)) continue;
    const isDropped = test.isLeftOut && isForTest;
    const isAsked = test.models?.length !== 0;
    const turn = writeTurn(test, index, needs, conversion);
    // Without the answer of a test that is left out, another prompt would be asked.
    const isLost = isDropped || (isAsked && answers.lacks(turn));
    if (isLost) leftOut += combinationCount(test.vars);
    if (!isAsked) continue;
    const convertedCases = casesOfTest(test, index + 1, needs, conversion);
    if (isDropped) reportFaults(convertedCases, conversion);
    if (isLost) {
      answers.lose(turn);
      continue;
    }
    const line = (test.at && conversion.ownLine(test.at)) ?? at.line;
    for (const { isLeftOut, text, ...otherFields } of convertedCases) {
      budget.step();
      if (isLeftOut && isForTest) {
        leftOut += 1;
        answers.lose(turn);
        continue;
      }
      size.add(text.inputs);
      const turnField = turn && { turn: answers.add(turn, cases.length) };
      cases.push({
        ...otherFields,
        line,
        models: test.models,
        ...turnField,
        text: { ...text, repeat: countRepetitions(test, repeat) },
      });
    }
  }
  return { cases, leftOut };
}

/** Returns the number of repetitions of a test's cases, which its own option sets first; undefined for one. */
function countRepetitions({ options }: ConfiguredTest, repeat: number | undefined): number | undefined {
  const count = options.repeat ?? repeat;
  return count === 1 ? undefined : count;
}

/** Reports the other faults of a test that is left out, which its first case shows. */
function reportFaults(made: Iterator<PossibleCase>, { budget }: Conversion): void {
  made.next();
  budget.step();
}

/** The number of characters in the inputs of all cases. */
class InputSize {
  readonly #at: Located;
  #characters = 0;

  constructor(at: Located) {
    this.#at = at;
  }

  /** Adds the inputs of a case. @throws {FileFault} at the tests, past the maximum */
  add(inputs: Readonly<Record<string, string>>): void {
    this.#characters += Object.values(inputs).reduce((sum, input) => sum + input.length, 0);
    if (this.#characters > MAX_INPUT_CHARACTERS) {
      throw faultAt(this.#at, 'the inputs of its cases are larger than 64 MiB in total');
    }
  }
}

type PossibleCase = Omit<LocatedCase, 'line'> & { readonly isLeftOut: boolean };

function* casesOfTest(
  test: ConfiguredTest,
  number: number,
  needs: CaseNeeds,
  conversion: Conversion,
): Generator<PossibleCase> {
  const count = combinationCount(test.vars);
  const { transform, judge } = test.options;
  // Other assertions have their variables filled in already.
  const hasCode =
    needs.hasCode ||
    transform !== undefined ||
    test.asserts.some(assertion => assertion && (assertion.transform !== undefined || isCode(assertion)));
  const metadata =
    hasCode && conversion.isForTest && Object.keys(test.metadata).length > 0 ? test.metadata : undefined;
  for (let index = 0; index < count; index += 1) {
    const combination = combinationOfTest(test.vars, index);
    const { texts, values } = combination;
    const name = test.name === undefined ? `case ${number}` : fillVars(test.name, texts);
    const checks = test.asserts.map(assertion => {
      const isChecked = assertion && !noteStored(assertion, conversion);
      return isChecked ? toExpectations(assertion, combination, conversion) : undefined;
    });
    const { inputs, isLeftOut } = renderInputs(combination, needs, conversion);
    yield {
      isLeftOut,
      leftOut: checks.filter(check => check === undefined).length,
      vars: values,
      text: {
        name: count > 1 ? `${name} (${index + 1})` : name,
        inputs,
        vars: hasCode ? withoutInputs(values, inputs) : {},
        metadata,
        transform,
        judge,
        expect: checks.flatMap(check => check ?? []),
      },
    };
  }
}

/** Reports an assertion with a variable whose value is known only after an earlier case has been answered. */
function noteStored({ at, value, transform }: Assertion, conversion: Conversion): boolean {
  const written = JSON.stringify([value ?? null, transform ?? null]);
  const stored = conversion.variables.stored.find(name => namesVariable(written, name));
  if (stored === undefined) return false;
  conversion.note(at, `an assertion with \`{{${stored}}}\`, the answer of another test, has no equivalent`);
  return true;
}

/** Returns the inputs of a case. It is left out if promptfoo would render them in another way. */
function renderInputs(
  combination: Combination,
  { inputs, renderedInputs, isEachRendered, jsonInputs, plainPrompt }: CaseNeeds,
  conversion: Conversion,
): { readonly inputs: Readonly<Record<string, string>>; readonly isLeftOut: boolean } {
  const { chosen, texts, values } = combination;
  const leftOutBefore = conversion.leftOut;
  const inputText = (input: string): string => {
    const body = conversion.bodies.get(input);
    if (body) {
      const texts = plainPrompt?.map(piece => ('text' in piece ? piece.text : inputText(piece.input)));
      return bodyText(body, values, { prompt: texts?.join('') }, conversion);
    }
    const fallback = conversion.fallbacks.get(input);
    if (fallback) {
      return Object.hasOwn(texts, fallback.variable) ? inputText(fallback.variable) : fallback.text;
    }
    if (!Object.hasOwn(texts, input)) return '';
    const text = texts[input] ?? '';
    const at = renderedInputs.includes(input) ? chosen[input]?.at : undefined;
    const rendered = at && renderVar(text, texts);
    if (rendered !== undefined) return rendered;
    if (at) {
      conversion.note(
        at,
        `the variable \`${input}\` has Nunjucks beyond \`{{name}}\`, which has no equivalent`,
      );
    }
    const value = values[input];
    const isStructured = typeof value === 'object' && value !== null;
    return isStructured || jsonInputs.includes(input) ? JSON.stringify(value) : text;
  };
  const renderedTexts = Object.fromEntries(inputs.map(input => [input, inputText(input)]));
  if (isEachRendered && conversion.isForTest) {
    const unrenderedValues = Object.entries(chosen).filter(([key]) => !renderedInputs.includes(key));
    for (const [key, { at }] of unrenderedValues) {
      if (!at || !isUnreadableNunjucks(texts[key] ?? '', texts)) continue;
      conversion.note(at, `the variable \`${key}\` has Nunjucks that promptfoo can't read`);
    }
  }
  return { inputs: renderedTexts, isLeftOut: conversion.leftOut > leftOutBefore };
}

/** Returns the values that the inputs alone do not give. */
function withoutInputs(
  vars: Readonly<Record<string, JsonValue>>,
  inputs: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(Object.entries(vars).filter(([name, value]) => value !== ownValue(inputs, name)));
}
