import type { ChatCompletionRequest$Outbound } from '@mistralai/mistralai/models/components';
import type { ChatRequest$Outbound } from '@openrouter/sdk/models';
import type { ChatCompletionCreateParams } from 'groq-sdk/resources/chat/completions';
import type { ProviderAnswer } from './fake-provider.ts';
import { inGoogleList, refuseGoogleParameter } from './google.ts';
import {
  ANY,
  type Body,
  FLAG,
  formatPath,
  getNamedModel,
  getValueAt,
  INTEGER,
  type InterfaceRules,
  lenient,
  NUMBER,
  object,
  oneOf,
  type ParameterFault,
  type Rule,
  type Schema,
  TEXT,
  withoutParameter,
} from './interface-rules.ts';
import {
  CHAT_PARAMETERS,
  CHAT_RULES,
  chatMessages,
  OPENAI_CHAT,
  openaiError,
  STRICT_SCHEMA,
} from './openai.ts';

const EVERY = /^/;

/** Refuses a header without a key; most servers take a request without the header. */
const noBareBearer: NonNullable<InterfaceRules['headers']> = ({ headers }) =>
  /^Bearer\s*(undefined|null)?$/.test(headers.authorization ?? '')
    ? openaiError('Invalid API Key', { status: 401, code: 'invalid_api_key' })
    : undefined;

const wrong = ({ kind, path, value }: ParameterFault): ProviderAnswer =>
  openaiError(
    `${formatPath(path)}: ${kind === 'missing' ? 'field required' : `can't be ${JSON.stringify(value)}`}`,
    {
      param: formatPath(path),
    },
  );

/** Returns a provider that ignores what it doesn't know. */
function lenientService(rules: readonly Rule[] = []): InterfaceRules {
  const parameters = lenient(object(CHAT_PARAMETERS, 'model', 'messages'));
  return { headers: noBareBearer, parameters, refuse: wrong, rules };
}

const GROQ_PARAMETERS = {
  ...CHAT_PARAMETERS,
  citation_options: TEXT,
  documents: ANY,
  include_reasoning: FLAG,
  n: { enum: [1, null] },
  reasoning_format: TEXT,
  search_settings: ANY,
  stream_options: ANY,
} satisfies Partial<
  Record<keyof ChatCompletionCreateParams | 'prompt_cache_key' | 'stream_options', Schema>
>;

const GROQ_JSON_SCHEMA = /gpt-oss|kimi|llama-4|qwen3\.[68]/;
const GROQ_THINKING = /gpt-oss|qwen|deepseek-r1/;

function groqMessage({ kind, path }: ParameterFault): string {
  const name = formatPath(path);
  if (kind === 'unknown') return `property '${name}' is unsupported`;
  if (name === 'n') return "'n' : number must be at most 1";
  return `'${name}' : value is not one of the allowed values`;
}

const GROQ: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(GROQ_PARAMETERS, 'model', 'messages'),
  refuse: fault => ({
    status: 400,
    body: {
      error: {
        message: groqMessage(fault),
        type: 'invalid_request_error',
      },
    },
  }),
  rules: [
    body =>
      getValueAt(body, 'response_format', 'type') === 'json_schema' &&
      !GROQ_JSON_SCHEMA.test(getNamedModel(body))
        ? openaiError(
            'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models',
            { param: 'response_format' },
          )
        : undefined,
    body =>
      body['reasoning_effort'] !== undefined && !GROQ_THINKING.test(getNamedModel(body))
        ? openaiError('`reasoning_effort` is not supported with this model', {
            param: 'reasoning_effort',
          })
        : undefined,
    ...CHAT_RULES,
  ],
};

const MISTRAL_PARAMETERS = {
  frequency_penalty: NUMBER,
  guardrails: ANY,
  max_tokens: INTEGER,
  messages: chatMessages(oneOf(TEXT, object({ url: TEXT, detail: TEXT }, 'url')), { prefix: FLAG }),
  metadata: ANY,
  model: TEXT,
  n: INTEGER,
  parallel_tool_calls: FLAG,
  prediction: ANY,
  presence_penalty: NUMBER,
  prompt_cache_key: TEXT,
  prompt_mode: TEXT,
  random_seed: INTEGER,
  reasoning_effort: TEXT,
  response_format: CHAT_PARAMETERS.response_format,
  safe_prompt: FLAG,
  service_tier: TEXT,
  stop: CHAT_PARAMETERS.stop,
  stream: FLAG,
  temperature: NUMBER,
  tool_choice: ANY,
  tools: ANY,
  top_p: NUMBER,
} satisfies Partial<Record<keyof ChatCompletionRequest$Outbound, Schema>>;

/** The type and message of a fault that Pydantic finds. */
const PYDANTIC_FAULTS = {
  unknown: ['extra_forbidden', 'Extra inputs are not permitted'],
  missing: ['missing', 'Field required'],
  type: ['type_error', 'Input should be valid'],
} as const;

const MISTRAL: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(MISTRAL_PARAMETERS, 'model', 'messages'),
  refuse: ({ kind, path, value }) => {
    const [type, msg] = PYDANTIC_FAULTS[kind];
    const detail = [{ type, loc: ['body', ...path], msg, input: value }];
    return {
      status: 422,
      body: {
        object: 'error',
        message: { detail },
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    };
  },
  rules: [],
};

const XAI_THINKING = /grok-(3-mini|4(?!.*non-reasoning)|[5-9])/;
const XAI_EFFORT = /grok-(3-mini|4\.[3-9]|4\.20-multi-agent|[5-9])/;

const xaiError = (error: string): ProviderAnswer => ({
  status: 400,
  body: { code: 'Client specified an invalid argument', error },
});

/**
 * xAI's own description of its interface; the service itself ignores other names, and so loses what
 * they ask for.
 */
const XAI_PARAMETERS = {
  ...pickProperties(
    CHAT_PARAMETERS,
    'frequency_penalty',
    'logprobs',
    'max_completion_tokens',
    'max_tokens',
    'messages',
    'model',
    'n',
    'parallel_tool_calls',
    'presence_penalty',
    'reasoning_effort',
    'response_format',
    'seed',
    'stop',
    'stream',
    'stream_options',
    'temperature',
    'tool_choice',
    'tools',
    'top_logprobs',
    'top_p',
    'user',
  ),
  deferred: FLAG,
  search_parameters: ANY,
  web_search_options: ANY,
};

const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const XAI: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(XAI_PARAMETERS, 'model', 'messages'),
  rules: [
    withoutParameter(/grok-3/, 'presence_penalty', () =>
      xaiError('Argument not supported on this model: presencePenalty'),
    ),
    ...['presence_penalty', 'frequency_penalty', 'stop'].map(name =>
      withoutParameter(XAI_THINKING, name, () =>
        xaiError(`Argument not supported on this model: ${camel(name)}`),
      ),
    ),
    body =>
      body['reasoning_effort'] !== undefined && !XAI_EFFORT.test(getNamedModel(body))
        ? xaiError(`Model ${getNamedModel(body)} does not support parameter reasoningEffort.`)
        : undefined,
    STRICT_SCHEMA,
  ],
  refuse: ({ path }) => xaiError(`Invalid value of ${formatPath(path)}`),
};

/**
 * DeepSeek's own description of its interface; the service itself ignores other names, and so loses
 * what they ask for.
 */
const DEEPSEEK_PARAMETERS = {
  ...pickProperties(
    CHAT_PARAMETERS,
    'frequency_penalty',
    'logprobs',
    'max_tokens',
    'messages',
    'model',
    'presence_penalty',
    'reasoning_effort',
    'response_format',
    'stop',
    'stream',
    'stream_options',
    'temperature',
    'tool_choice',
    'tools',
    'top_logprobs',
    'top_p',
  ),
  thinking: object({ type: { enum: ['enabled', 'disabled'] } }, 'type'),
  user_id: TEXT,
};

const deepseekError = (message: string): ProviderAnswer =>
  openaiError(message, { code: 'invalid_request_error' });

/** Refuses anything but text for models without eyes. */
const TEXT_ALONE: Rule = body => {
  const at = /vision/.test(getNamedModel(body)) ? -1 : listOfMessages(body).findIndex(hasPicture);
  return at < 0
    ? undefined
    : deepseekError(
        `Failed to deserialize the JSON body into the target type: messages[${at}]: unknown variant \`image_url\`, expected \`text\` at line 1 column ${JSON.stringify(body).length}`,
      );
};

function listOfMessages({ messages }: Body): readonly unknown[] {
  return Array.isArray(messages) ? (messages as unknown[]) : [];
}

function hasPicture(message: unknown): boolean {
  const content = getValueAt(message, 'content');
  return Array.isArray(content) && content.some(part => getValueAt(part, 'type') === 'image_url');
}

const DEEPSEEK: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(DEEPSEEK_PARAMETERS, 'model', 'messages'),
  refuse: ({ path }) => deepseekError(`the double of DeepSeek does not know ${formatPath(path)}`),
  rules: [
    TEXT_ALONE,
    body =>
      getValueAt(body, 'response_format', 'type') === 'json_schema'
        ? openaiError('This response_format type is unavailable now', {
            code: 'invalid_request_error',
          })
        : undefined,
    body =>
      getValueAt(body, 'response_format', 'type') === 'json_object' &&
      !/json/i.test(JSON.stringify(body['messages']))
        ? openaiError(
            "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
            { code: 'invalid_request_error' },
          )
        : undefined,
  ],
};

const cerebrasError = (message: string): ProviderAnswer => ({
  status: 400,
  body: {
    message,
    type: 'invalid_request_error',
    param: 'validation_error',
    code: 'wrong_api_format',
  },
});

const CEREBRAS: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(CHAT_PARAMETERS, 'model', 'messages'),
  refuse: ({ path }) =>
    cerebrasError(`${formatPath(path)}: property '${formatPath(path)}' is unsupported`),
  rules: [
    ...[
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
      'parallel_tool_calls',
      'service_tier',
    ].map(name =>
      withoutParameter(EVERY, name, () =>
        cerebrasError(`${name}: property '${name}' is unsupported`),
      ),
    ),
    ...CHAT_RULES,
  ],
};

const {
  frequency_penalty: _f,
  presence_penalty: _p,
  seed: _s,
  ...GEMINI_PARAMETERS
} = CHAT_PARAMETERS;

/** Chat Completions at Google, below `/openai`. */
const GEMINI: InterfaceRules = {
  headers: noBareBearer,
  parameters: object({ ...GEMINI_PARAMETERS, extra_body: ANY }, 'model', 'messages'),
  refuse: fault => inGoogleList(refuseGoogleParameter(fault)),
  rules: [],
};

/**
 * LM Studio takes names that it does not know without a word
 * (lmstudio-ai/lmstudio-bug-tracker#377).
 */
const LMSTUDIO: InterfaceRules = lenientService([
  body =>
    getValueAt(body, 'response_format', 'type') === 'json_object'
      ? { status: 400, body: { error: "'response_format.type' must be 'json_schema' or 'text'" } }
      : undefined,
]);

const MORE_SAMPLING = { top_k: INTEGER, min_p: NUMBER, repetition_penalty: NUMBER } as const;

const between = (type: 'number' | 'integer', minimum: number, maximum: number): Schema => ({
  type: [type, 'null'],
  minimum,
  maximum,
});

/**
 * Fireworks refuses what it doesn't know. Fields and bounds are those of its reference:
 * https://docs.fireworks.ai/api-reference/post-chatcompletions
 */
const FIREWORKS: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(
    {
      ...CHAT_PARAMETERS,
      context_length_exceeded_behavior: { enum: ['truncate', 'error'] },
      echo: FLAG,
      echo_last: INTEGER,
      frequency_penalty: between('number', -2, 2),
      function_call: ANY,
      functions: ANY,
      ignore_eos: FLAG,
      logprobs: ANY,
      min_p: between('number', 0, 1),
      mirostat_lr: NUMBER,
      mirostat_target: NUMBER,
      n: between('integer', 1, 128),
      perf_metrics_in_response: FLAG,
      prediction: ANY,
      presence_penalty: between('number', -2, 2),
      prompt_cache_isolation_key: TEXT,
      prompt_token_ids: ANY,
      prompt_truncate_len: INTEGER,
      raw_output: FLAG,
      reasoning_effort: ANY,
      reasoning_history: { enum: ['disabled', 'interleaved', 'preserved', null] },
      repetition_penalty: between('number', 0, 2),
      return_token_ids: FLAG,
      safe_tokenization: FLAG,
      sampling_mask: TEXT,
      service_tier: { enum: ['auto', 'default', 'flex', 'priority'] },
      speculation: ANY,
      temperature: between('number', 0, 2),
      thinking: ANY,
      top_k: between('integer', 0, 100),
      top_logprobs: between('integer', 0, 5),
      top_p: between('number', 0, 1),
      typical_p: between('number', 0, 1),
    },
    'model',
    'messages',
  ),
  refuse: ({ kind, path, value }) => {
    const place = `field: '${path.join('.')}', value: ${pythonValue(value)}`;
    const message =
      kind === 'unknown' ? `Extra inputs are not permitted, ${place}` : `Invalid input, ${place}`;
    const type = 'invalid_request_error';
    return { status: 400, body: { error: { object: 'error', type, code: type, message } } };
  },
  rules: [],
};

/** OpenRouter takes no `n`: it asks each model for one answer. */
const OPENROUTER: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(
    {
      ...without(CHAT_PARAMETERS, 'n'),
      ...MORE_SAMPLING,
      image_config: ANY,
      modalities: ANY,
      plugins: ANY,
      provider: ANY,
      reasoning: ANY,
    } satisfies Partial<Record<keyof ChatRequest$Outbound, Schema>>,
    'model',
    'messages',
  ),
  refuse: wrong,
  rules: [],
};

const TOGETHER: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(
    {
      ...without(CHAT_PARAMETERS, 'max_completion_tokens', 'metadata', 'parallel_tool_calls'),
      ...MORE_SAMPLING,
      reasoning: ANY,
    },
    'model',
    'messages',
  ),
  refuse: wrong,
  rules: [],
};

/** Servers on one's own machine; of these, vLLM refused unknown names up to version 0.6.4. */
const LOCAL: InterfaceRules = {
  headers: noBareBearer,
  parameters: object(
    {
      ...without(CHAT_PARAMETERS, 'max_completion_tokens'),
      ...MORE_SAMPLING,
      best_of: INTEGER,
      n_predict: INTEGER,
      n_probs: INTEGER,
    },
    'model',
    'messages',
  ),
  refuse: ({ kind, path, value }) => {
    const [type, msg] = PYDANTIC_FAULTS[kind];
    const place = ['body', ...path]
      .map(step => (/^\d+$/.test(step) ? step : `'${step}'`))
      .join(', ');
    const message = `[{'type': '${type}', 'loc': (${place}), 'msg': '${msg}', 'input': ${pythonValue(value)}}]`;

    return {
      status: 400,
      body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
    };
  },
  rules: [],
};

/** Returns a value as Python prints it. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value).replaceAll('"', "'");
}

function pickProperties<T extends object, Key extends keyof T>(
  properties: T,
  ...keys: Key[]
): Pick<T, Key> {
  return Object.fromEntries(
    Object.entries(properties).filter(([key]) => keys.some(one => one === key)),
  ) as Pick<T, Key>;
}

function without<T extends object, Key extends keyof T>(
  properties: T,
  ...keys: Key[]
): Omit<T, Key> {
  return Object.fromEntries(
    Object.entries(properties).filter(([key]) => !keys.some(one => one === key)),
  ) as Omit<T, Key>;
}

/** Chat Completions as each provider takes them. */
export const CHAT_DIALECTS = {
  openai: OPENAI_CHAT,
  groq: GROQ,
  mistral: MISTRAL,
  xai: XAI,
  deepseek: DEEPSEEK,
  cerebras: CEREBRAS,
  gemini: GEMINI,
  lmstudio: LMSTUDIO,
  together: TOGETHER,
  fireworks: FIREWORKS,
  openrouter: OPENROUTER,
  /** Ollama, llama.cpp, vLLM and whatever else speaks like them. */
  local: LOCAL,
} as const satisfies Record<string, InterfaceRules>;

export type ChatDialect = keyof typeof CHAT_DIALECTS;
