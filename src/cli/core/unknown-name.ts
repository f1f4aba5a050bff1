import { didYouMean } from '../../utils/nearest-name.ts';
import { usageError } from './errors.ts';

/**
 * Returns the texts of the error for an unknown name: the nearest one is in the message, all of
 * them in a hint.
 */
export function explainUnknownName(
  noun: string,
  typedName: string,
  names: readonly string[],
): [message: string, ...hints: string[]] {
  const message = `unknown ${noun} ${JSON.stringify(typedName)}${didYouMean(typedName, names)}`;
  if (names.length === 0) return [message];

  const plural = noun.replace(/y$/u, 'ie').replace(/s$/u, 'se').concat('s');
  return [message, `${plural.charAt(0).toUpperCase()}${plural.slice(1)}: ${names.join(', ')}`];
}

/**
 * Returns the typed name if it is one of `names`.
 *
 * @throws {CliError} USAGE_ERROR that suggests the nearest one
 */
export function requireOneOf<Name extends string>(
  noun: string,
  typedName: string,
  names: readonly Name[],
): Name {
  const name = names.find(candidate => candidate === typedName);
  if (name !== undefined) return name;
  throw usageError(...explainUnknownName(noun, typedName, names));
}
