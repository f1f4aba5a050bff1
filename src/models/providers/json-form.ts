import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isJsonObject } from '../../wire/bounded-json.ts';
import { jsonWords, type PromptJob, saysJson } from '../engine.ts';
import type { Interface } from './clients.ts';
import { obeyedSchema } from './schema-notes.ts';
import { isStrict } from './strict-schema.ts';

/** How a model is asked for JSON. */
export interface JsonForm {
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  readonly strict: boolean;
  /** What is said in the prompt besides. */
  readonly words?: string;
  /** What goes into the request in place of `responseFormat`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A schema that every JSON object fits, for servers that take nothing but schemas. */
const ANY_OBJECT = { type: 'object' } as const;

/**
 * How a job asks for JSON: with the schema if the model takes one, else in words.
 *
 * @param takesNone true if the client said that the model takes no format after all
 */
export function jsonFormOf(job: PromptJob, spoken: Interface, takesNone = false): JsonForm {
  const { json, model } = job;
  if (json === undefined) return { strict: false };
  const { schema, named } = json;
  const strict = named?.strict ?? isStrict(schema);
  const wanted = { provider: model.provider?.name ?? '', id: model.id ?? model.model };
  const form = takesNone
    ? 'words'
    : (OF_FILE[model.responseFormat ?? ''] ?? spoken.json?.(wanted) ?? 'schema');
  if (form === 'schema' && isJsonObject(schema)) {
    const taken = model.provider ? obeyedSchema(schema, model.provider) : schema;
    return {
      responseFormat: {
        type: 'json',
        schema: isJsonObject(taken) ? taken : schema,
        name: named?.name ?? 'output',
        ...(named?.description !== undefined && { description: named.description }),
      },
      strict,
    };
  }
  const words = isJsonObject(schema) ? jsonWords(schema) : saysJson(job) ? undefined : jsonWords();
  const said = words === undefined ? {} : { words };
  if (form === 'words') return { ...said, strict };
  if (wanted.provider === 'lmstudio') {
    return { ...said, responseFormat: { type: 'json', schema: ANY_OBJECT, name: 'output' }, strict: false };
  }
  if (spoken.saysJson) return { ...said, fields: { response_format: { type: 'json_object' } }, strict };
  return { ...said, responseFormat: { type: 'json' }, strict };
}

/** What `responseFormat` of `models.yaml` says. */
const OF_FILE: Readonly<Record<string, 'schema' | 'object' | 'words' | undefined>> = {
  json_schema: 'schema',
  json_object: 'object',
  none: 'words',
};
