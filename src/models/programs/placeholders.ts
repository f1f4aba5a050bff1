import { isJsonList, type JsonValue } from '../../files/formats/json.ts';
import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { ProgramPlaceholder } from '../declared-model.ts';

/** A text split into literals and placeholders. */
type TextPieces = readonly (string | ProgramPlaceholder)[];

/** An unknown or unclosed placeholder; the message names it. */
export class PlaceholderFault extends Error {}

const PLACEHOLDER_NAMES = ['prompt', 'system', 'messages', 'images', 'here', 'model'] as const;

/** Matches a placeholder such as `${input.city}`, one that is not closed, or the literal `$${`. */
const PLACEHOLDER_MARKS = /\$\$\{|\$\{(?<name>[^}]*)(?<brace>\}?)/gu;

/**
 * Splits a text at its placeholders; `$${` is a literal `${`.
 *
 * @throws {PlaceholderFault}
 */
export function splitAtPlaceholders(text: string): TextPieces {
  const pieces: (string | ProgramPlaceholder)[] = [];
  let literalStart = 0;
  let literal = '';
  for (const match of text.matchAll(PLACEHOLDER_MARKS)) {
    literal += text.slice(literalStart, match.index);
    literalStart = match.index + match[0].length;

    const { name, brace } = match.groups ?? {};
    if (name === undefined) {
      literal += '${';
      continue;
    }

    if (literal !== '') pieces.push(literal);
    literal = '';
    if (brace !== '}') throw createPlaceholderFault('a `${` has no `}`');
    pieces.push(parsePlaceholder(name));
  }

  literal += text.slice(literalStart);
  return literal === '' ? pieces : [...pieces, literal];
}

function parsePlaceholder(placeholder: string): ProgramPlaceholder {
  const plainName = PLACEHOLDER_NAMES.find(name => name === placeholder);
  if (plainName !== undefined) return { name: plainName };

  const { name, key } = /^(?<name>input|env)\.(?<key>.+)$/su.exec(placeholder)?.groups ?? {};
  if (name === 'input' && key !== undefined) return { name, key };
  if (name === 'env' && key !== undefined && /^[A-Za-z_]\w*$/u.test(key)) return { name, key };
  throw createPlaceholderFault(`\${${placeholder}} is not a placeholder`);
}

function createPlaceholderFault(message: string): PlaceholderFault {
  const names =
    '${prompt}, ${system}, ${messages}, ${input.<key>}, ${images}, ${here}, ${model} and ${env.<name>}';
  return new PlaceholderFault(
    `${message}: the placeholders are ${names}; for a literal \${ write $\${`,
  );
}

/** Returns the placeholders in a text. @throws {PlaceholderFault} */
export function parsePlaceholders(text: string): ProgramPlaceholder[] {
  return splitAtPlaceholders(text).filter(piece => typeof piece !== 'string');
}

export type GetPlaceholderValue = (placeholder: ProgramPlaceholder) => JsonValue;

/** Fills in a text. Placeholders within a value are not filled in. */
export function fillText(
  text: string,
  toValue: GetPlaceholderValue,
  encode = (value: string): string => value,
): string {
  return splitAtPlaceholders(text)
    .map(piece => (typeof piece === 'string' ? piece : encode(toTextOrEmpty(toValue(piece)))))
    .join('');
}

/** The values of placeholders. */
export interface PlaceholderValues {
  /** Returns a value within a text: an input unchanged. */
  readonly getTextValue: GetPlaceholderValue;
  /** Returns a value on its own in JSON: an input with its type in the prompt's schema. */
  readonly getJsonValue: GetPlaceholderValue;
}

/**
 * Fills in every text of a value. A text that is only a placeholder becomes its value, with its
 * type.
 */
export function fillValue(value: JsonValue, values: PlaceholderValues): JsonValue {
  if (typeof value === 'string') {
    const [piece = '', ...furtherPieces] = splitAtPlaceholders(value);
    const isAlone = furtherPieces.length === 0 && typeof piece !== 'string';
    return isAlone ? values.getJsonValue(piece) : fillText(value, values.getTextValue);
  }

  if (isJsonList(value)) return value.map(item => fillValue(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, fillValue(field, values)]),
  );
}
