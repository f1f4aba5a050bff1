import { isJsonList, type JsonValue } from '../../../files/formats/json.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { CheckedAnswer, UnmetPart } from './expectation.ts';
import { quoteExcerpt } from './expectation-kind.ts';

/** Returns the transformed answer, or the reason that the transform failed. */
export async function transformOutput(
  answer: CheckedAnswer,
  script: JavaScript,
): Promise<{ readonly answer: CheckedAnswer } | { readonly mismatch: UnmetPart }> {
  const result = await answer.runJavaScript(script, answer.value);
  const value = 'fault' in result ? undefined : result.value;

  // promptfoo treats null as no value.
  if (value === undefined || (answer.isAsPromptfoo && value === null)) {
    const reason = 'fault' in result ? result.fault : 'it returns nothing';
    return {
      mismatch: {
        message: `transform ${quoteExcerpt(script.code.trim())}: ${reason}`,
        actual: answer.text,
      },
    };
  }

  return { answer: { ...answer, value, text: formatValue(value, answer) } };
}

/**
 * Returns the text of a value for expectations other than code. promptfoo writes JSON on one line.
 */
export function formatValue(
  value: JsonValue,
  { isAsPromptfoo }: Pick<CheckedAnswer, 'isAsPromptfoo'>,
): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, undefined, isListOrObject(value) && !isAsPromptfoo ? 2 : 0);
}

function isListOrObject(value: JsonValue): boolean {
  return isJsonList(value) || isJsonObject(value);
}
