import type { JsonValue } from '../../../../files/formats/json.ts';
import { resolveVariables } from '../nunjucks/resolve-variables.ts';
import type { ConfiguredTest, VariableValue } from './configured-test.ts';

/** Stands for the value of a variable without values. */
const NO_VALUE: VariableValue = { text: '', json: '' };

/** One value for each variable of a test. */
export interface Combination {
  /** The values as configured. */
  readonly chosenValues: Readonly<Record<string, VariableValue>>;
  /** The values as texts, with the variables in them filled in. */
  readonly texts: Readonly<Record<string, string>>;
  /** The values for code. */
  readonly values: Readonly<Record<string, JsonValue>>;
}

/** Returns a combination by its number, from 0; the last variable changes fastest. */
export function chooseCombination(vars: ConfiguredTest['vars'], number: number): Combination {
  const chosenValues = chooseValues(vars, number);
  const resolvedVars = resolveVariables(
    mapValues(chosenValues, ({ text, json }) => (json === null ? null : text)),
  );
  const texts = mapValues(chosenValues, ({ text }, key) => resolvedVars[key] ?? text);
  const values = mapValues(chosenValues, ({ text, json }, key) =>
    json === text ? (texts[key] ?? '') : json,
  );

  return { chosenValues, texts, values };
}

function mapValues<V, R>(
  values: Readonly<Record<string, V>>,
  convert: (value: V, key: string) => R,
): Record<string, R> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, convert(value, key)]),
  );
}

function chooseValues(
  vars: ConfiguredTest['vars'],
  number: number,
): Readonly<Record<string, VariableValue>> {
  let remainder = number;
  const chosenPairs = [...vars].toReversed().map(([key, values]) => {
    const value = values[remainder % values.length] ?? NO_VALUE;
    remainder = Math.floor(remainder / values.length);
    return [key, value] as const;
  });
  return Object.fromEntries(chosenPairs.toReversed());
}
