import type { FilePosition } from '../../files/formats/file-fault.ts';
import type { JsonValue } from '../../files/formats/json.ts';
import { toTextOrJson } from '../../files/formats/json-fields.ts';
import type { Findings } from '../findings.ts';

/** Maximum length of a value in a message. */
const MAX_SHOWN_OPTION_LENGTH = 40;

/** The range of a numeric option. */
interface Range {
  readonly min?: number;
  readonly max?: number;
  readonly isWhole?: boolean;
}

/** The widest range of each option that any provider accepts. */
const OPTION_RANGES: Readonly<Record<string, Range>> = {
  temperature: { min: 0, max: 2 },
  topP: { min: 0, max: 1 },
  topK: { min: 1, isWhole: true },
  maxOutputTokens: { min: 1, isWhole: true },
  seed: { isWhole: true },
  frequencyPenalty: { min: -2, max: 2 },
  presencePenalty: { min: -2, max: 2 },
};

/**
 * Explains why an option's value is not valid, as a predicate to follow the option's name;
 * undefined if it is valid, or if only the model knows the valid values. A number in quotes is a
 * number.
 */
export function findOptionFault(key: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;

  if (key === 'stopSequences') {
    return isTextOrTexts(value) ? undefined : 'must be text or a list of texts';
  }

  if (!Object.hasOwn(OPTION_RANGES, key)) return undefined;

  const range = OPTION_RANGES[key] ?? {};
  const number = parseNumber(value);
  return number !== undefined && isInRange(number, range)
    ? undefined
    : `must be ${describeRange(range)}`;
}

/** Reports an option in `config` whose value no model accepts. */
export function checkOption(
  key: string,
  value: JsonValue,
  place: FilePosition,
  findings: Findings,
): void {
  const fault = findOptionFault(key, value);
  if (fault === undefined) return;
  const text = toTextOrJson(value);
  const shownText =
    text.length > MAX_SHOWN_OPTION_LENGTH ? `${text.slice(0, MAX_SHOWN_OPTION_LENGTH)}…` : text;
  findings.addFault(place, `\`${key}\` ${fault}, not \`${shownText}\``);
}

function isTextOrTexts(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.every(item => typeof item === 'string'))
  );
}

function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || /[^\d\s.e+-]/i.test(value) || value.trim() === '') {
    return undefined;
  }
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

function isInRange(
  number: number,
  { min = -Infinity, max = Infinity, isWhole = false }: Range,
): boolean {
  if (!Number.isFinite(number) || number < min || number > max) return false;
  return !isWhole || Number.isSafeInteger(number);
}

function describeRange({ min, max, isWhole = false }: Range): string {
  const kind = isWhole ? 'a whole number' : 'a number';
  if (min === undefined) return kind;
  return max === undefined ? `${kind}, ${min} or more` : `${kind} from ${min} to ${max}`;
}
