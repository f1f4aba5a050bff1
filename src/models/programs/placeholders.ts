import { isJsonList, type JsonValue, textOrNothing } from '../../files/json.ts';
import type { Placeholder } from '../declared.ts';

/** A text in pieces: what stands there, and what is filled in. */
type Pieces = readonly (string | Placeholder)[];

/** A text with something in `${…}` that stands for nothing. The message names it. */
export class PlaceholderFault extends Error {}

const PLAIN = ['prompt', 'system', 'messages', 'images', 'here', 'model'] as const;
const MARKS = /\$\$\{|\$\{(?<name>[^}]*)(?<end>\}?)/gu;

/**
 * Splits a text at its placeholders; `$${` is a literal `${`.
 *
 * @throws {PlaceholderFault}
 */
export function piecesOf(text: string): Pieces {
  const pieces: (string | Placeholder)[] = [];
  let at = 0;
  let literal = '';
  for (const match of text.matchAll(MARKS)) {
    literal += text.slice(at, match.index);
    at = match.index + match[0].length;
    const { name, end } = match.groups ?? {};
    if (name === undefined) {
      literal += '${';
      continue;
    }
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push(placeholderOf(name, end === '}'));
  }
  literal += text.slice(at);
  return literal === '' ? pieces : [...pieces, literal];
}

function placeholderOf(written: string, isClosed: boolean): Placeholder {
  const plain = PLAIN.find(name => name === written);
  const { name, key } = /^(?<name>input|env)\.(?<key>.+)$/su.exec(written)?.groups ?? {};
  if (isClosed && plain !== undefined) return { name: plain };
  if (isClosed && name === 'input' && key !== undefined) return { name, key };
  if (isClosed && name === 'env' && key !== undefined && /^[A-Za-z_]\w*$/u.test(key)) return { name, key };
  const known =
    '${prompt}, ${system}, ${messages}, ${input.<key>}, ${images}, ${here}, ${model} and ${env.<name>}';
  const what = isClosed ? `\${${written}} stands for nothing` : 'a `${` has no `}`';
  throw new PlaceholderFault(`${what}: the placeholders are ${known}; for a literal \${ write $\${`);
}

/** The placeholders in a text. @throws {PlaceholderFault} */
export function placeholdersIn(text: string): Placeholder[] {
  return piecesOf(text).filter(piece => typeof piece !== 'string');
}

/** What placeholders stand for in a run. */
export type ValueOf = (placeholder: Placeholder) => JsonValue;

/** Fills in a text. What is filled in is never read as a placeholder. */
export function filledText(
  text: string,
  valueOf: ValueOf,
  encode = (value: string): string => value,
): string {
  return piecesOf(text)
    .map(piece => (typeof piece === 'string' ? piece : encode(textOrNothing(valueOf(piece)))))
    .join('');
}

/** What placeholders stand for, alone and within a text. */
export interface Fill {
  readonly inJson: ValueOf;
  readonly inText: ValueOf;
}

/** Fills in every text of a value. One that is nothing but a placeholder becomes what that stands for, of its own type. */
export function filledValue(value: JsonValue, fill: Fill): JsonValue {
  if (typeof value === 'string') {
    const [piece = '', ...others] = piecesOf(value);
    const isAlone = others.length === 0 && typeof piece !== 'string';
    return isAlone ? fill.inJson(piece) : filledText(value, fill.inText);
  }
  if (isJsonList(value)) return value.map(item => filledValue(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, filledValue(field, fill)]));
}
