import { type JsonValue, parseJson } from '../../../../files/formats/json.ts';
import { renderVariable } from '../nunjucks/fill-variables.ts';
import type { ConfiguredTests } from './configured-test.ts';

/** Returns the names of the variables that have a value of a kind in one of the tests. */
export function listVariablesOfKind(
  { tests }: ConfiguredTests,
  isOfKind: (value: JsonValue) => boolean,
): string[] {
  const vars = tests.flatMap(test => [...test.vars]);
  return vars
    .filter(([, values]) => values.some(({ json }) => isOfKind(json)))
    .map(([name]) => name);
}

/**
 * Returns true if a test has a value that equals a text in Nunjucks but not as a text, or the other
 * way round.
 */
export function comparesOtherwiseInNunjucks(
  { tests }: ConfiguredTests,
  name: string,
  text: string,
): boolean {
  return tests.some(({ vars }) => {
    // A missing variable is undefined in Nunjucks, and an empty text here.
    const values = vars.get(name) ?? [{ text: '', json: null }];
    return values.some(
      ({ json, text: ownText }) => compareInNunjucks(json, text) !== (ownText === text),
    );
  });
}

/**
 * Compares a value with a text as JavaScript's `==` does; returns undefined for a list or an
 * object, which `==` turns into a text of another form than JSON.
 */
function compareInNunjucks(value: JsonValue, text: string): boolean | undefined {
  if (value === null) return false;
  if (typeof value === 'object') return undefined;
  return typeof value === 'string' ? value === text : Number(value) === Number(text);
}

/** Returns the variables that keep answers for later tests. */
export function listStoredVariables({ tests }: ConfiguredTests): string[] {
  return [...new Set(tests.flatMap(({ options: { answerVariable } }) => answerVariable ?? []))];
}

/**
 * Returns true if a variable takes more of Nunjucks than names of variables.
 *
 * @param usedNames the variables of the prompt
 */
export function hasNunjucksValue(
  { tests, variableNames }: ConfiguredTests,
  usedNames: readonly string[],
): boolean {
  const emptyVariables = Object.fromEntries(variableNames.map(name => [name, '']));
  const values = tests.flatMap(({ vars }) => usedNames.flatMap(name => vars.get(name) ?? []));
  return values.some(
    ({ text, place }) => place !== undefined && renderVariable(text, emptyVariables) === undefined,
  );
}

/** Variables that are not a text in every test. */
export interface JsonVariables {
  readonly names: readonly string[];
  /** Those with different values that are the same as text. */
  readonly ambiguousNames: readonly string[];
}

/**
 * Returns the variables that are not a text in every test: programs get another value, or none.
 *
 * @param omissibleNames those that a program doesn't get if a test lacks them; it gets any other as
 * an empty text
 */
export function collectJsonVariables(
  { tests }: ConfiguredTests,
  omissibleNames: readonly string[],
): JsonVariables {
  const kinds = new Map<string, { hasJson: boolean; isAmbiguous: boolean }>();
  for (const [name, values] of tests.flatMap(({ vars }) => [...vars])) {
    const kind = kinds.get(name) ?? { hasJson: false, isAmbiguous: false };
    for (const { text, json } of values) {
      if (typeof json !== 'string') kind.hasJson = true;
      if (isAmbiguousText(json, text)) kind.isAmbiguous = true;
    }
    kinds.set(name, kind);
  }

  const jsonKinds = [...kinds].filter(([, { hasJson }]) => hasJson);
  const missingNames = omissibleNames.filter(name => {
    const { hasJson = false, isAmbiguous = false } = kinds.get(name) ?? {};
    return !hasJson && !isAmbiguous && tests.some(({ vars }) => !vars.has(name));
  });

  return {
    names: [...jsonKinds.map(([name]) => name), ...new Set(missingNames)],
    ambiguousNames: jsonKinds.filter(([, { isAmbiguous }]) => isAmbiguous).map(([name]) => name),
  };
}

/** Returns true if a program can't tell a value from another: an empty text stands for no value. */
function isAmbiguousText(json: JsonValue, text: string): boolean {
  if (json === '' || json === null) return true;
  return typeof json === 'string' && parseJson(text) !== undefined;
}
