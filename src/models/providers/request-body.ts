import { isJsonObject } from '../../wire/bounded-json.ts';

type Json = Readonly<Record<string, unknown>>;

/** Fields that hold what the request is about: no option of the same name replaces them. */
const OWN: ReadonlySet<string> = new Set([
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

/** Fields that the form of the answer is asked for with: those of a request that has them stay. */
const FORM: ReadonlySet<string> = new Set(['response_format', 'tools', 'tool_choice', 'toolConfig']);

/** Keys of `config` as fields of a request's body: in snake case. */
export function snakeCased(config: Json): Json {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Fields of Gemini's request itself; all others belong into its `generationConfig`. */
const GEMINI_FIELDS: ReadonlySet<string> = new Set(['safetySettings', 'cachedContent', 'labels']);

/** Keys of `config` as fields of a request of Gemini's. */
export function geminiFields(config: Json): Json {
  const entries = Object.entries(config);
  const own = entries.filter(([key]) => GEMINI_FIELDS.has(key));
  const others = entries.filter(([key]) => !GEMINI_FIELDS.has(key));
  return {
    ...Object.fromEntries(own),
    ...(others.length > 0 && { generationConfig: Object.fromEntries(others) }),
  };
}

/** A request's body with more fields. Where both hold an object, the fields of both are in it, and the body's own win. */
export function merged(body: Json, fields: Json): Json {
  const result: Record<string, unknown> = { ...body };
  for (const [key, value] of Object.entries(fields)) {
    const own = body[key];
    if (OWN.has(key) || (FORM.has(key) && own !== undefined)) continue;
    result[key] = isJsonObject(value) && isJsonObject(own) ? { ...value, ...own } : value;
  }
  return result;
}
