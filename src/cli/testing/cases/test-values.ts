import type { FilePosition } from '../../../files/formats/file-fault.ts';
import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { LimitExceededError } from '../../../utils/limit-exceeded.ts';
import { didYouMean } from '../../../utils/nearest-name.ts';
import { CaseFault, CliError, usageError } from '../../core/errors.ts';

/** Returns the error for a fault in a test file, with file and line. */
export function testFileError(place: FilePosition, message: string, ...hints: string[]): CliError {
  return usageError(`${formatPlace(place)}: ${message}`, ...hints);
}

export function formatPlace({ file, line }: FilePosition): string {
  return `${file}:${line}`;
}

/**
 * Adds the place of a value to an error, unless its message begins with the file. The fault of a
 * case, and a limit that was exceeded, become the fault of the case alone.
 *
 * @param reword changes the message before the place is added
 */
export function withValuePlace(
  value: YamlValue,
  error: unknown,
  reword: (message: string) => string,
): unknown {
  if (error instanceof CaseFault) return error.withPlace(formatPlace(value));

  if (error instanceof LimitExceededError) {
    return new CaseFault(reword(error.message)).withPlace(formatPlace(value));
  }

  if (!(error instanceof Error) || error.message.startsWith(value.file ?? '')) return error;
  return testFileError(
    value,
    reword(error.message),
    ...(error instanceof CliError ? error.hints : []),
  );
}

/**
 * Returns the entries of a map.
 *
 * @param label the name of the value in errors
 * @throws {CliError} if it has an unknown key
 */
export function readMapFields(
  value: YamlValue,
  label: string,
  knownKeys?: readonly string[],
): YamlEntries {
  const entries = value.readEntries(label);
  const unknownEntry = entries.find(({ key }) => knownKeys?.includes(key) === false);
  if (unknownEntry === undefined) return new Map(entries.map(entry => [entry.key, entry]));

  const key = JSON.stringify(unknownEntry.key);
  const meant = didYouMean(unknownEntry.key, knownKeys ?? []);
  throw testFileError(
    unknownEntry,
    `${label} has no key ${key}${meant}; it takes ${knownKeys?.join(', ')}`,
  );
}

export function requireText(value: YamlValue, label: string): string {
  const text = value.toJson();
  if (typeof text === 'string' && text !== '') return text;
  throw testFileError(value, `${label} must be text`);
}

/** Returns a string that isn't empty, or the source text of a number or boolean. */
export function requireScalar(value: YamlValue, label: string): string {
  if (value.scalar) return value.scalar;
  throw testFileError(value, `${label} must be text`);
}

const NUMBER_RANGES = {
  'a number of 0 or more': (value: number) => value >= 0,
  'a whole number of 1 or more': (value: number) => Number.isSafeInteger(value) && value >= 1,
} as const;

export function readNumber(
  value: YamlValue,
  label: string,
  range: keyof typeof NUMBER_RANGES,
): number {
  const number = value.toJson();
  if (typeof number === 'number' && NUMBER_RANGES[range](number)) return number;
  throw testFileError(value, `${label} must be ${range}`);
}

/** Returns a value in the form of `--input`: scalars as in the source, lists and maps as JSON. */
export function readInputText(value: YamlValue, label: string): string {
  if (value.isEmpty) {
    throw testFileError(value, `${label} is null; give a value, or leave the input out`);
  }
  return value.scalar ?? JSON.stringify(value.toJson());
}
