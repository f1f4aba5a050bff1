import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';

/** Fields that no option of the same name may replace. */
const PROTECTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'contents',
  'system',
  'systemInstruction',
  'prompt',
  'image',
  'images',
  'stream',
  'stream_options',
]);

/** Fields for the format of the answer, which an option can add but not replace. */
const FORMAT_FIELDS: ReadonlySet<string> = new Set([
  'response_format',
  'tools',
  'tool_choice',
  'toolConfig',
]);

/** Returns keys of `config` in snake case, as fields of a request's body. */
export function toSnakeCase(config: UncheckedObject): UncheckedObject {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Fields of Gemini's request itself; all others belong in its `generationConfig`. */
const GEMINI_FIELDS: ReadonlySet<string> = new Set(['safetySettings', 'cachedContent', 'labels']);

/** Returns keys of `config` as fields of a Gemini request. */
export function toGeminiFields(config: UncheckedObject): UncheckedObject {
  const entries = Object.entries(config);
  const requestFields = entries.filter(([key]) => GEMINI_FIELDS.has(key));
  const configFields = entries.filter(([key]) => !GEMINI_FIELDS.has(key));
  return {
    ...Object.fromEntries(requestFields),
    ...(configFields.length > 0 && { generationConfig: Object.fromEntries(configFields) }),
  };
}

/**
 * Returns a body with added fields. Merges objects that both have; there the body's own fields win.
 */
export function mergeFields(body: UncheckedObject, fields: UncheckedObject): UncheckedObject {
  const result: Record<string, unknown> = { ...body };
  for (const [key, value] of Object.entries(fields)) {
    const bodyValue = body[key];
    if (PROTECTED_FIELDS.has(key) || (FORMAT_FIELDS.has(key) && bodyValue !== undefined)) continue;
    result[key] =
      isJsonObject(value) && isJsonObject(bodyValue) ? { ...value, ...bodyValue } : value;
  }
  return result;
}
