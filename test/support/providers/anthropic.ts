import type Anthropic from '@anthropic-ai/sdk';
import type { ProviderAnswer, ProviderRequest } from './fake-provider.ts';
import {
  ANY,
  type Body,
  constant,
  FLAG,
  formatPath,
  getNamedModel,
  getValueAt,
  INTEGER,
  type InterfaceRules,
  LIST,
  listOf,
  NUMBER,
  OBJECT,
  object,
  oneOf,
  type ParameterFault,
  type Rule,
  type Schema,
  TEXT,
  withoutParameter,
} from './interface-rules.ts';

/** The version of the interface in which models may still be given a temperature. */
export const VERSION = '2023-06-01';

/** Claude 4.7 and newer: no settings of sampling, no answer that is begun for it. */
const WITHOUT_SAMPLING = /claude-((opus|sonnet|haiku)-(4-[789]|[5-9])|fable|mythos|[5-9])/;

/** Claude 4.5 and 4.6: a temperature or topP, not both. */
const ONE_OF_SAMPLING = /claude-(opus|sonnet|haiku)-4-[56]/;
const WITHOUT_EFFORT = /claude-(3|(opus|sonnet|haiku)-4-[01]|(sonnet|haiku)-4-5)/;

/** Returns an error in Anthropic's form. */
export function anthropicError(
  message: string,
  type = 'invalid_request_error',
  status = 400,
): ProviderAnswer {
  return {
    status,
    body: { type: 'error', error: { type, message }, request_id: 'req_011CYfUGm894GvnVxoN9fNaL' },
  };
}

const TEXT_BLOCK = object(
  { type: constant('text'), text: { type: 'string', minLength: 1 }, cache_control: ANY },
  'text',
);

const BLOCK = oneOf(
  TEXT_BLOCK,
  object(
    {
      type: constant('image'),
      source: object({ type: TEXT, media_type: TEXT, data: TEXT, url: TEXT }, 'type'),
      cache_control: ANY,
    },
    'source',
  ),
);

const SAMPLING = { temperature: NUMBER, top_k: INTEGER, top_p: NUMBER } as const;

/**
 * The client's types are of a newer version of the interface, which has no settings of sampling.
 */
const PARAMETERS = {
  cache_control: ANY,
  inference_geo: TEXT,
  max_tokens: { type: 'integer', minimum: 1 },
  messages: listOf(
    object(
      { role: { enum: ['user', 'assistant'] }, content: oneOf(TEXT, listOf(BLOCK)) },
      'role',
      'content',
    ),
  ),
  metadata: OBJECT,
  model: TEXT,
  output_config: object({
    effort: { enum: ['low', 'medium', 'high', 'xhigh', 'max', null] },
    format: object({ type: constant('json_schema'), schema: OBJECT }, 'type', 'schema'),
  }),
  service_tier: { enum: ['auto', 'standard_only'] },
  stop_sequences: listOf(TEXT),
  stream: FLAG,
  system: oneOf(TEXT, listOf(TEXT_BLOCK)),
  thinking: OBJECT,
  tool_choice: OBJECT,
  tools: LIST,
} satisfies Partial<Record<keyof Anthropic.MessageCreateParams, Schema>>;

const REQUIRED = ['max_tokens', 'messages', 'model'];

function refuseParameter({ kind, path, value }: ParameterFault): ProviderAnswer {
  const place = path.join('.');
  if (kind === 'unknown') return anthropicError(`${place}: Extra inputs are not permitted`);
  if (kind === 'missing') return anthropicError(`${place}: Field required`);

  if (value === '' && place.endsWith('.text')) {
    return anthropicError(`messages: text content blocks must be non-empty`);
  }

  return anthropicError(
    `${place}: Input should be a valid ${place === 'max_tokens' ? 'integer' : 'value'}`,
  );
}

/** Keywords of a schema that Claude doesn't take, by the type beside them. */
const REFUSED_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['maxItems', 'uniqueItems'],
  object: ['minProperties', 'maxProperties', 'patternProperties'],
};

const PLACE = 'output_config.format.schema';

function findSchemaFault(schema: unknown): ProviderAnswer | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (Array.isArray(schema)) return schema.map(findSchemaFault).find(Boolean);

  const { type, minItems, additionalProperties } = schema as Body;
  if (type === 'object' && additionalProperties !== false) {
    return anthropicError(
      `${PLACE}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
    );
  }

  if (type === 'array' && typeof minItems === 'number' && minItems > 1) {
    return anthropicError(
      `${PLACE}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`,
    );
  }

  const keyword = REFUSED_KEYWORDS[String(type)]?.find(name => name in schema);
  if (keyword !== undefined) {
    return anthropicError(
      `${PLACE}: For '${String(type)}' type, property '${keyword}' is not supported`,
    );
  }

  return Object.values(schema).map(findSchemaFault).find(Boolean);
}

const deprecated = (name: string): Rule =>
  withoutParameter(WITHOUT_SAMPLING, name, () =>
    anthropicError(`\`${name}\` is deprecated for this model.`),
  );

const RULES: readonly Rule[] = [
  body =>
    Array.isArray(body['messages']) && body['messages'].length === 0
      ? anthropicError('messages: at least one message is required')
      : undefined,
  ...Object.keys(SAMPLING).map(deprecated),
  body =>
    Number(body['temperature'] ?? 0) > 1 ? anthropicError('temperature: range: 0..1') : undefined,
  body =>
    ONE_OF_SAMPLING.test(getNamedModel(body)) &&
    body['temperature'] !== undefined &&
    body['top_p'] !== undefined
      ? anthropicError(
          '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
        )
      : undefined,
  withoutParameter(WITHOUT_EFFORT, 'output_config.effort', () =>
    anthropicError('This model does not support the effort parameter.'),
  ),
  body => {
    const last = Array.isArray(body['messages']) ? (body['messages'] as Body[]).at(-1) : undefined;
    return last?.['role'] === 'assistant' && WITHOUT_SAMPLING.test(getNamedModel(body))
      ? anthropicError(
          'This model does not support assistant message prefill. The conversation must end with a user message.',
        )
      : undefined;
  },
  body => findSchemaFault(getValueAt(body, 'output_config', 'format', 'schema')),
];

function checkHeaders({ headers }: ProviderRequest): ProviderAnswer | undefined {
  if (!headers['x-api-key'] && !headers.authorization) {
    return anthropicError('x-api-key header is required', 'authentication_error', 401);
  }

  const version = headers['anthropic-version'];
  if (version === undefined) return anthropicError('anthropic-version: header is required');
  if (version === VERSION) return undefined;
  return anthropicError(
    `anthropic-version: "${String(version)}" is not ${VERSION}, which is pinned`,
  );
}

/** Messages at api.anthropic.com. */
export const MESSAGES: InterfaceRules = {
  headers: checkHeaders,
  parameters: object({ ...PARAMETERS, ...SAMPLING }, ...REQUIRED),
  refuse: refuseParameter,
  rules: RULES,
};

const { model: _model, stream: _stream, ...BEDROCK_PARAMETERS } = PARAMETERS;

/**
 * Messages of Claude at Amazon Bedrock, which names the model and the form of the answer in the
 * path.
 */
export const BEDROCK_MESSAGES: InterfaceRules = {
  parameters: object(
    {
      ...BEDROCK_PARAMETERS,
      ...SAMPLING,
      anthropic_version: constant('bedrock-2023-05-31'),
      anthropic_beta: LIST,
    },
    'anthropic_version',
    'max_tokens',
    'messages',
  ),
  refuse: ({ kind, path }) => ({
    status: 400,
    body: {
      message:
        kind === 'unknown'
          ? `Malformed input request: #: extraneous key [${formatPath(path)}] is not permitted, please reformat your input and try again.`
          : `Malformed input request: ${formatPath(path)}, please reformat your input and try again.`,
    },
  }),
  rules: RULES.map(rule => (body, request) => {
    const model = decodeURIComponent(/\/model\/([^/]+)\//.exec(request.path)?.[1] ?? '');
    const answer = rule({ ...body, model }, request);
    const message = getValueAt(answer?.body, 'error', 'message');

    return (
      answer && {
        status: 400,
        body: { message: `The model returned the following errors: ${String(message)}` },
      }
    );
  }),
};
