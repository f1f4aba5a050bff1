import { findOwnValue, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { parseAzureDeployment } from './sent-settings.ts';

/** Returns true if promptfoo reads the format of a provider's answers from this key. */
export function isFormatKey(id: string, key: string): boolean {
  if (key === 'format') return id.startsWith('ollama:');
  const isGoogle = /^(?:google|vertex):/u.test(id);
  if (key !== 'response_format') return isGoogle;
  return !isGoogle && !/^(?:anthropic|ollama|bedrock|echo)\b/u.test(id);
}

/** Returns true if promptfoo parses the answers of a provider in this format. */
export function parsesAnswers(id: string, format: JsonObject | undefined): boolean {
  if (format?.['format'] !== 'json' || id.startsWith('mistral:')) return false;
  return 'schema' in format || parseAzureDeployment(id)?.isResponses === false;
}

/**
 * Returns the `output` of a prompt file for a format, or `text` for free text, which needs none;
 * undefined for a format that can't be expressed.
 */
export function readAnswerFormat(format: JsonValue): JsonObject | 'text' | undefined {
  const type = findOwnValue(format, 'type') ?? format;
  if (format === 'json') return { format: 'json' };
  if (type === 'text' || type === 'text/plain') return 'text';
  if (type === 'json_object' || type === 'application/json') return { format: 'json' };
  const schema = findOwnValue(findOwnValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) ? { format: 'json', schema } : undefined;
}
