import { isJsonList, type JsonValue, parseJson } from '../../../../../files/formats/json.ts';
import { splitNunjucks } from '../../nunjucks/split-nunjucks.ts';

/** Matches a Nunjucks tag that is an environment variable. */
export const ENVIRONMENT_TAG = /\{\{\s*env\.(?<name>[A-Za-z_]\w*)\s*\}\}/gu;

/**
 * Returns the body of a request with our placeholders; undefined if it has other Nunjucks tags.
 * Like promptfoo, fills in a text that is JSON value by value.
 */
export function convertBody(body: JsonValue): JsonValue | undefined {
  const json = typeof body === 'string' ? parseJson(body) : undefined;
  return convertPlaceholders(typeof json === 'object' && json !== null ? json : body);
}

/** Returns a value with our placeholders; undefined if it has other Nunjucks tags. */
export function convertPlaceholders(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') return convertText(value);

  if (isJsonList(value)) {
    const items = value.map(convertPlaceholders);
    return items.every(item => item !== undefined) ? items : undefined;
  }

  if (typeof value !== 'object' || value === null) return value;

  const fields: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    const convertedField = convertPlaceholders(field);
    if (convertedField === undefined || key.includes('{')) return undefined;
    fields[key] = convertedField;
  }

  return fields;
}

/**
 * Returns a text with our placeholders; undefined if it has other Nunjucks tags, or a dollar sign
 * directly before a variable: `$${` is a literal `${`, not a dollar sign and a placeholder.
 */
export function convertText(text: string): string | undefined {
  if (text.includes('${{')) return undefined;
  const parts = escapePlaceholders(text).split(ENVIRONMENT_TAG);
  const texts = parts.map((part, index) => {
    if (index % 2 === 1) return `\${env.${part}}`;
    const { pieces, isPlain } = splitNunjucks(part);
    const joinedPieces = pieces.map(piece => {
      if ('text' in piece) return piece.text;
      if (!('input' in piece)) return '';
      return piece.input === 'prompt' ? '${prompt}' : `\${input.${piece.input}}`;
    });
    return isPlain ? joinedPieces.join('') : undefined;
  });
  return texts.every(part => part !== undefined) ? texts.join('') : undefined;
}

/** Escapes text that would otherwise become a placeholder. */
export function escapePlaceholders(text: string): string {
  return text.replaceAll('${', () => '$${');
}
