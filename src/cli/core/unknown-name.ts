import { didYouMean } from '../../utils/nearest-name.ts';
import { usageError } from './errors.ts';

/**
 * Returns the texts of the error for an unknown name: the nearest one is in the message, all of
 * them in a hint.
 */
export function explainUnknownName(
  what: string,
  typed: string,
  names: readonly string[],
): [message: string, ...hints: string[]] {
  const plural = what.replace(/y$/u, 'ie').replace(/s$/u, 'se').concat('s');
  const all = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}: ${names.join(', ')}`;
  return [
    `unknown ${what} ${JSON.stringify(typed)}${didYouMean(typed, names)}`,
    ...(names.length === 0 ? [] : [all]),
  ];
}

/**
 * Returns the word if it is one of `names`.
 *
 * @throws {CliError} USAGE_ERROR that names the nearest
 */
export function requireOneOf<Name extends string>(
  what: string,
  word: string,
  names: readonly Name[],
): Name {
  const name = names.find(candidate => candidate === word);
  if (name !== undefined) return name;
  throw usageError(...explainUnknownName(what, word, names));
}
