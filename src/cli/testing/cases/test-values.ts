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

/** Adds the place of a value to an error. The fault of a case is returned unchanged. */
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

/** Returns the entries of a map. @throws {CliError} if it has an unknown key */
export function readMapFields(
  value: YamlValue,
  what: string,
  knownKeys?: readonly string[],
): YamlEntries {
  const entries = value.readEntries(what);
  const unknownEntry = entries.find(({ key }) => knownKeys?.includes(key) === false);
  if (unknownEntry === undefined) return new Map(entries.map(entry => [entry.key, entry]));

  const key = JSON.stringify(unknownEntry.key);
  const meant = didYouMean(unknownEntry.key, knownKeys ?? []);
  throw testFileError(
    unknownEntry,
    `${what} has no key ${key}${meant}; it takes ${knownKeys?.join(', ')}`,
  );
}

export function requireText(value: YamlValue, what: string): string {
  const text = value.toJson();
  if (typeof text === 'string' && text !== '') return text;
  throw testFileError(value, `${what} must be text`);
}

/** Returns a string, or the source text of a number or boolean. */
export function readWord(value: YamlValue, what: string): string {
  if (value.scalar) return value.scalar;
  throw testFileError(value, `${what} must be text`);
}

const NUMBER_RANGES = {
  'a number of 0 or more': (value: number) => value >= 0,
  'a whole number of 1 or more': (value: number) => Number.isSafeInteger(value) && value >= 1,
} as const;

export function readNumber(
  value: YamlValue,
  what: string,
  form: keyof typeof NUMBER_RANGES,
): number {
  const number = value.toJson();
  if (typeof number === 'number' && NUMBER_RANGES[form](number)) return number;
  throw testFileError(value, `${what} must be ${form}`);
}

/** Returns a value in the form of `--input`: scalars as in the source, lists and maps as JSON. */
export function readInputText(value: YamlValue, what: string): string {
  if (value.isEmpty) {
    throw testFileError(value, `${what} is null; give a value, or leave the input out`);
  }
  return value.scalar ?? JSON.stringify(value.toJson());
}
