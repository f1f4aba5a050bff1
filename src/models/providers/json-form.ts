import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isJsonObject } from '../../wire/bounded-json.ts';
import { jsonWords, type PromptJob, saysJson } from '../engine.ts';
import type { ProviderInterface } from './clients.ts';
import { obeyedSchema } from './schema-notes.ts';
import { isStrict } from './strict-schema.ts';

/** The parts of a request that ask for JSON. */
export interface JsonForm {
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  readonly strict: boolean;
  /** Words to add to the prompt. */
  readonly words?: string;
  /** Fields of the request in place of `responseFormat`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A schema that fits every JSON object, for servers that require a schema. */
const ANY_OBJECT = { type: 'object' } as const;

/**
 * Returns how to ask for JSON: with the schema if the model takes one, else in words.
 *
 * @param takesNone true if the client found that the model takes no format
 */
export function jsonFormOf(job: PromptJob, api: ProviderInterface, takesNone = false): JsonForm {
  const { json, model } = job;
  if (json === undefined) return { strict: false };
  const { schema, named } = json;
  const strict = named?.strict ?? isStrict(schema);
  const modelId = { provider: model.provider?.name ?? '', id: model.id ?? model.model };
  const form = takesNone
    ? 'words'
    : (BY_RESPONSE_FORMAT[model.responseFormat ?? ''] ?? api.json?.(modelId) ?? 'schema');
  if (form === 'schema' && isJsonObject(schema)) {
    const obeyed = model.provider ? obeyedSchema(schema, model.provider) : schema;
    return {
      responseFormat: {
        type: 'json',
        schema: isJsonObject(obeyed) ? obeyed : schema,
        name: named?.name ?? 'output',
        ...(named?.description !== undefined && { description: named.description }),
      },
      strict,
    };
  }
  const words = isJsonObject(schema) ? jsonWords(schema) : saysJson(job) ? undefined : jsonWords();
  const inPrompt = words === undefined ? {} : { words };
  if (form === 'words') return { ...inPrompt, strict };
  if (modelId.provider === 'lmstudio') {
    return {
      ...inPrompt,
      responseFormat: { type: 'json', schema: ANY_OBJECT, name: 'output' },
      strict: false,
    };
  }
  if (api.saysJson) return { ...inPrompt, fields: { response_format: { type: 'json_object' } }, strict };
  return { ...inPrompt, responseFormat: { type: 'json' }, strict };
}

/** The values of `responseFormat` in `models.yaml`. */
const BY_RESPONSE_FORMAT: Readonly<Record<string, 'schema' | 'object' | 'words' | undefined>> = {
  json_schema: 'schema',
  json_object: 'object',
  none: 'words',
};
