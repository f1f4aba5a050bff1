import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';
import { buildJsonInstruction, type PromptJob } from '../../engine.ts';
import type { ModelEntry, Provider } from '../../model-entry.ts';
import type { JsonMode, ProviderInterface } from './provider-interface.ts';
import { withoutIgnoredKeywords } from './schema-keywords.ts';
import { fitsStrictMode } from './strict-schema.ts';

/** The parts of a request that ask for JSON. */
export interface JsonForm {
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'];
  readonly isStrict: boolean;
  /** The instruction to add to the prompt. */
  readonly instruction?: string | undefined;
  /** Fields to send instead of `responseFormat`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The modes that `responseFormat` in `models.yaml` sets. */
const MODE_BY_RESPONSE_FORMAT: Readonly<Record<string, JsonMode | undefined>> = {
  json_schema: 'schema',
  json_object: 'object',
  none: 'words',
};

/** A schema that fits every JSON object, for servers that require a schema. */
const ANY_OBJECT = { type: 'object' } as const;

/**
 * Returns the parts of a request that ask for JSON; only `isStrict` if the prompt doesn't ask for it.
 *
 * @param mode the way to ask; default as models.yaml or the provider's interface says
 */
export function chooseJsonForm(
  job: PromptJob,
  api: ProviderInterface,
  mode: JsonMode = pickJsonMode(job.model, api),
): JsonForm {
  const { json, model } = job;
  if (json === undefined) return { isStrict: false };

  const { schema, schemaName } = json;
  const isStrict = schemaName?.strict ?? fitsStrictMode(schema);
  if (mode === 'schema' && isJsonObject(schema)) {
    return { responseFormat: buildResponseFormat(schema, schemaName, model.provider), isStrict };
  }

  const instruction = buildJsonInstruction(job);
  if (mode === 'words') return { instruction, isStrict };

  if (model.provider?.name === 'lmstudio') {
    return {
      instruction,
      responseFormat: { type: 'json', schema: ANY_OBJECT, name: 'output' },
      isStrict: false,
    };
  }

  if (api.addsJsonWords) {
    return { instruction, fields: { response_format: { type: 'json_object' } }, isStrict };
  }

  return { instruction, responseFormat: { type: 'json' }, isStrict };
}

/**
 * Returns the way to ask that models.yaml declares for the model, or else that of the provider's
 * interface.
 */
function pickJsonMode(model: ModelEntry, api: ProviderInterface): JsonMode {
  const declaredMode = MODE_BY_RESPONSE_FORMAT[model.responseFormat ?? ''];
  return (
    declaredMode ??
    api.chooseJsonMode?.({ provider: model.provider?.name ?? '', id: model.id ?? model.model }) ??
    'schema'
  );
}

function buildResponseFormat(
  schema: UncheckedObject,
  schemaName: NonNullable<PromptJob['json']>['schemaName'],
  provider: Provider | undefined,
): NonNullable<JsonForm['responseFormat']> {
  const sentSchema = provider ? withoutIgnoredKeywords(schema, provider) : schema;
  return {
    type: 'json',
    schema: isJsonObject(sentSchema) ? sentSchema : schema,
    name: schemaName?.name ?? 'output',
    ...(schemaName?.description !== undefined && { description: schemaName.description }),
  };
}
