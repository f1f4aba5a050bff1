import type OpenAI from 'openai';
import type { ProviderAnswer } from './fake-provider.ts';
import {
  ANY,
  type Body,
  constant,
  FLAG,
  findMissingInStrict,
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

/** Models of OpenAI's that think: they take one temperature only. */
export const THINKING_MODELS = /^(o\d|gpt-[5-9](?!.*-chat)|codex)/;
export const NOT_THINKING = /^(?!o\d|gpt-[5-9](?!.*-chat)|codex)/;
const ONLY_RESPONSES = /-pro\b|codex|deep-research|computer-use/;

export interface ErrorDetails {
  readonly param?: string | null;
  readonly code?: string | null;
  readonly type?: string | null;
  readonly status?: number;
}

/** Returns an error in OpenAI's form. */
export function openaiError(message: string, details: ErrorDetails = {}): ProviderAnswer {
  const { param = null, code = null, type = 'invalid_request_error', status = 400 } = details;
  return { status, body: { error: { message, type, param, code } } };
}

export const unsupported = (parameter: string) => (): ProviderAnswer =>
  openaiError(`Unsupported parameter: '${parameter}' is not supported with this model.`, {
    param: parameter,
    code: 'unsupported_parameter',
  });

const unsupportedTemperature = (value: unknown): ProviderAnswer =>
  openaiError(
    `Unsupported value: 'temperature' does not support ${String(value)} with this model. Only the default (1) value is supported.`,
    { param: 'temperature', code: 'unsupported_value' },
  );

/**
 * Returns a name of a parameter, or a type, that is wrong below the top of the body, in the words
 * of both interfaces.
 */
export function wrongParameter({ kind, path, value }: ParameterFault): ProviderAnswer {
  const param = formatPath(path);
  if (kind === 'unknown') {
    return openaiError(`Unknown parameter: '${param}'.`, { param, code: 'unknown_parameter' });
  }

  if (kind === 'missing') {
    return openaiError(`Missing required parameter: '${param}'.`, {
      param,
      code: 'missing_required_parameter',
    });
  }

  const filled = Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  const got = value === null ? 'null' : filled;

  return openaiError(`Invalid type for '${param}': got ${got} instead.`, {
    param,
    code: 'invalid_type',
  });
}

/** Returns true if the messages have the word JSON in any place. */
export function mentionsJson(messages: unknown): boolean {
  return /json/i.test(JSON.stringify(messages));
}

/** Returns the fault of a schema that should be strict, and can't be. */
export function findStrictFault(format: unknown, param: string): ProviderAnswer | undefined {
  const { name, strict, schema } = (format ?? {}) as Body;
  const missing = strict === true ? findMissingInStrict(schema) : undefined;
  if (!missing) return undefined;

  const context = `In context=(${missing.place.map(step => `'${step}'`).join(', ')})`;
  const what =
    missing.fault === 'required'
      ? `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing.name}'.`
      : "'additionalProperties' is required to be supplied and to be false.";

  return openaiError(`Invalid schema for response_format '${String(name)}': ${context}, ${what}`, {
    param,
    code: 'invalid_json_schema',
  });
}

/** Refuses every request without a key. */
export const needsKey: NonNullable<InterfaceRules['headers']> = ({ headers }) => {
  const key = headers['api-key'] ?? /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  if (key) return undefined;
  return openaiError("You didn't provide an API key.", { status: 401 });
};

const JSON_SCHEMA = object({ name: TEXT, description: TEXT, schema: OBJECT, strict: FLAG }, 'name');

const PICTURE_URL = object({ url: TEXT, detail: { enum: ['auto', 'low', 'high'] } }, 'url');

/** Messages of Chat Completions; some providers take pictures or roles in their own form. */
export function chatMessages(pictureUrl: Schema = PICTURE_URL, more: Schema = {}): Schema {
  const part = oneOf(
    object({ type: constant('text'), text: TEXT }, 'text'),
    object({ type: constant('image_url'), image_url: pictureUrl }, 'image_url'),
  );
  const properties = {
    role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
    content: oneOf(TEXT, { type: 'null' }, listOf(part)),
    name: TEXT,
    ...more,
  };
  return { ...listOf(object(properties, 'role')), minItems: 1 };
}

const RESPONSE_FORMAT = oneOf(
  object({ type: { enum: ['text', 'json_object'] } }, 'type'),
  object({ type: constant('json_schema'), json_schema: JSON_SCHEMA }, 'type', 'json_schema'),
);

const STOP = oneOf(TEXT, { type: 'null' }, { ...listOf(TEXT), maxItems: 4 });

/** Parameters of Chat Completions as most providers take them. */
export const CHAT_PARAMETERS = {
  frequency_penalty: NUMBER,
  logit_bias: ANY,
  logprobs: FLAG,
  max_completion_tokens: INTEGER,
  max_tokens: INTEGER,
  messages: chatMessages(),
  metadata: ANY,
  model: TEXT,
  n: INTEGER,
  parallel_tool_calls: FLAG,
  presence_penalty: NUMBER,
  prompt_cache_key: TEXT,
  reasoning_effort: TEXT,
  response_format: RESPONSE_FORMAT,
  seed: INTEGER,
  service_tier: TEXT,
  stop: STOP,
  stream: FLAG,
  stream_options: object({ include_usage: FLAG, include_obfuscation: FLAG }),
  temperature: NUMBER,
  tool_choice: ANY,
  tools: LIST,
  top_logprobs: INTEGER,
  top_p: NUMBER,
  user: TEXT,
} satisfies Partial<Record<keyof OpenAI.ChatCompletionCreateParams, Schema>>;

const OWN_CHAT_PARAMETERS = {
  ...CHAT_PARAMETERS,
  audio: ANY,
  modalities: LIST,
  moderation: ANY,
  prediction: ANY,
  prompt_cache_options: ANY,
  prompt_cache_retention: TEXT,
  safety_identifier: TEXT,
  store: FLAG,
  verbosity: TEXT,
  web_search_options: ANY,
} satisfies Partial<Record<keyof OpenAI.ChatCompletionCreateParams, Schema>>;

const JSON_WORD: Rule = body =>
  getValueAt(body, 'response_format', 'type') === 'json_object' && !mentionsJson(body['messages'])
    ? openaiError(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        { param: 'messages' },
      )
    : undefined;

/** Refuses a strict schema that does not list every property as required. */
export const STRICT_SCHEMA: Rule = body =>
  findStrictFault(getValueAt(body, 'response_format', 'json_schema'), 'response_format');

/** Rules that most providers of Chat Completions share. */
export const CHAT_RULES: readonly Rule[] = [JSON_WORD, STRICT_SCHEMA];

/** Chat Completions at api.openai.com. */
export const OPENAI_CHAT: InterfaceRules = {
  headers: needsKey,
  parameters: object(OWN_CHAT_PARAMETERS, 'model', 'messages'),
  refuse: fault =>
    fault.kind === 'unknown' && fault.path.length === 1
      ? openaiError(`Unrecognized request argument supplied: ${formatPath(fault.path)}`)
      : wrongParameter(fault),
  rules: [
    body =>
      ONLY_RESPONSES.test(getNamedModel(body))
        ? openaiError(
            'This model is only supported in v1/responses and not in v1/chat/completions.',
            {
              status: 404,
              param: 'model',
            },
          )
        : undefined,
    withoutParameter(THINKING_MODELS, 'max_tokens', () =>
      openaiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: 'max_tokens', code: 'unsupported_parameter' },
      ),
    ),
    withoutParameter(THINKING_MODELS, 'temperature', unsupportedTemperature, 1),
    ...['top_p', 'presence_penalty', 'frequency_penalty', 'stop', 'logprobs', 'logit_bias'].map(
      name => withoutParameter(THINKING_MODELS, name, unsupported(name)),
    ),
    withoutParameter(NOT_THINKING, 'reasoning_effort', () =>
      openaiError('Unrecognized request argument supplied: reasoning_effort'),
    ),
    ...CHAT_RULES,
  ],
};
