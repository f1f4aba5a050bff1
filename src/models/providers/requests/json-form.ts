import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';
import { jsonWords, type PromptJob, saysJson } from '../../engine.ts';
import type { ModelEntry, Provider } from '../../model-entry.ts';
import type { ProviderInterface } from './provider-interface.ts';
import { obeyedSchema } from './schema-keywords.ts';
import { isStrict } from './strict-schema.ts';

/** The parts of a request that ask for JSON. */
export interface JsonForm {
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  readonly strict: boolean;
  /** Words to add to the prompt. */
  readonly words?: string;
  /** Fields to send instead of `responseFormat`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A schema that fits every JSON object, for servers that require a schema. */
const ANY_OBJECT = { type: 'object' } as const;

/**
 * Returns how to ask for JSON: with the schema if the model takes one, else in words.
 *
 * @param way how to ask; default as models.yaml or the provider's interface says
 */
export function chooseJsonForm(
  job: PromptJob,
  api: ProviderInterface,
  way: WayToAsk = wayToAsk(job.model, api),
): JsonForm {
  const { json, model } = job;
  if (json === undefined) return { strict: false };
  const { schema, named } = json;
  const strict = named?.strict ?? isStrict(schema);
  if (way === 'schema' && isJsonObject(schema)) {
    return { responseFormat: schemaFormat(schema, named, model.provider), strict };
  }
  const words = formatWords(job, schema);
  const inPrompt = words === undefined ? {} : { words };
  if (way === 'words') return { ...inPrompt, strict };
  if (model.provider?.name === 'lmstudio') {
    return {
      ...inPrompt,
      responseFormat: { type: 'json', schema: ANY_OBJECT, name: 'output' },
      strict: false,
    };
  }
  if (api.saysJson) return { ...inPrompt, fields: { response_format: { type: 'json_object' } }, strict };
  return { ...inPrompt, responseFormat: { type: 'json' }, strict };
}

type WayToAsk = 'schema' | 'object' | 'words';

/** Returns the way that models.yaml declares for the model, or else the one of the provider's interface. */
function wayToAsk(model: ModelEntry, api: ProviderInterface): WayToAsk {
  const declared = BY_RESPONSE_FORMAT[model.responseFormat ?? ''];
  return (
    declared ?? api.json?.({ provider: model.provider?.name ?? '', id: model.id ?? model.model }) ?? 'schema'
  );
}

function schemaFormat(
  schema: UncheckedObject,
  schemaName: NonNullable<PromptJob['json']>['named'],
  provider: Provider | undefined,
): NonNullable<JsonForm['responseFormat']> {
  const obeyed = provider ? obeyedSchema(schema, provider) : schema;
  return {
    type: 'json',
    schema: isJsonObject(obeyed) ? obeyed : schema,
    name: schemaName?.name ?? 'output',
    ...(schemaName?.description !== undefined && { description: schemaName.description }),
  };
}

/** Returns the words that ask for JSON; undefined if the prompt itself asks for it and there is no schema to add. */
function formatWords(job: PromptJob, schema: unknown): string | undefined {
  if (isJsonObject(schema)) return jsonWords(schema);
  return saysJson(job) ? undefined : jsonWords();
}

/** The values of `responseFormat` in `models.yaml`. */
const BY_RESPONSE_FORMAT: Readonly<Record<string, WayToAsk | undefined>> = {
  json_schema: 'schema',
  json_object: 'object',
  none: 'words',
};
