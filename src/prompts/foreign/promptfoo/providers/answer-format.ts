import { findOwnValue, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { parseAzureDeployment } from './sent-settings.ts';

/** Returns true if promptfoo reads the format of answers from this key for a provider. */
export function readsFormat(id: string, key: string): boolean {
  const isGoogle = /^(?:google|vertex):/u.test(id);
  if (key === 'format') return id.startsWith('ollama:');
  return key === 'response_format'
    ? !isGoogle && !/^(?:anthropic|ollama|bedrock|echo)\b/u.test(id)
    : isGoogle;
}

/** Returns true if promptfoo parses the answers of a provider in this format. */
export function parsesAnswers(id: string, format: JsonObject | undefined): boolean {
  if (format?.['format'] !== 'json' || id.startsWith('mistral:')) return false;
  return 'schema' in format || parseAzureDeployment(id)?.isResponses === false;
}

/** Returns the required answer format; undefined if it can't be expressed. */
export function readAnswerFormat(format: JsonValue): JsonObject | 'text' | undefined {
  const type = findOwnValue(format, 'type') ?? format;
  if (format === 'json') return { format: 'json' };
  if (type === 'text' || type === 'text/plain') return 'text';
  if (type === 'json_object' || type === 'application/json') return { format: 'json' };
  const schema = findOwnValue(findOwnValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) ? { format: 'json', schema } : undefined;
}
