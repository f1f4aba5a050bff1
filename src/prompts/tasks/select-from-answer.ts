import type { JsonValue } from '../../files/formats/json.ts';
import { JsonLimitError, parseBoundedJson } from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { LimitExceededError, runWithinTime } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';

/**
 * Evaluates JMESPath expressions on a text that is JSON or has a JSON value per line; a fault if it
 * is neither.
 */
export async function selectFromAnswer(
  text: string,
  expressions: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<{ readonly found: Readonly<Record<string, JsonValue>> } | { readonly fault: string }> {
  const { evaluateExpression } = await import('../../utils/jmespath.ts');
  return runWithinTime('reading the answer', limitMs, () => {
    // Windows PowerShell begins what it writes with a byte order mark.
    const value = parseJsonOrLines(text.replace(/^\uFEFF/u, ''));
    if (value === undefined) return { fault: 'it is not JSON' };

    const selectedValues: Record<string, JsonValue> = {};
    for (const [name, expression] of Object.entries(expressions)) {
      try {
        selectedValues[name] = JSON.parse(
          evaluateExpression(expression, value, 0).json,
        ) as JsonValue;
      } catch (error) {
        return { fault: `\`${expression}\` does not fit it: ${getErrorMessage(error)}` };
      }
    }

    return { found: selectedValues };
  });
}

/** Parses JSON, or one JSON value per line; undefined if the text is neither. */
function parseJsonOrLines(text: string): unknown {
  try {
    return parseJsonWithin(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const lines = text.split('\n').filter(line => line.trim() !== '');
  try {
    return lines.length < 2 ? undefined : lines.map(parseJsonWithin);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function parseJsonWithin(text: string): unknown {
  try {
    return parseBoundedJson(text, BOUNDS.json);
  } catch (error) {
    throw error instanceof JsonLimitError
      ? new LimitExceededError(`the answer ${error.message}`)
      : error;
  }
}
