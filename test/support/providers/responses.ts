import type OpenAI from 'openai';
import type { ProviderAnswer } from './fake-provider.ts';
import {
  ANY,
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
  type Schema,
  TEXT,
  withoutParameter,
} from './interface-rules.ts';
import {
  findStrictFault,
  mentionsJson,
  NOT_THINKING,
  needsKey,
  openaiError,
  THINKING_MODELS,
  unsupported,
  wrongParameter,
} from './openai.ts';

const INPUT_PART = oneOf(
  object({ type: { enum: ['input_text', 'output_text'] }, text: TEXT }, 'text'),
  object({ type: constant('input_image'), image_url: TEXT, detail: TEXT }, 'image_url'),
);

const INPUT = oneOf(
  TEXT,
  listOf(
    object(
      {
        type: constant('message'),
        role: { enum: ['system', 'developer', 'user', 'assistant'] },
        content: oneOf(TEXT, listOf(INPUT_PART)),
        id: TEXT,
        status: TEXT,
      },
      'role',
      'content',
    ),
  ),
);

const TEXT_FORMAT = oneOf(
  object({ type: { enum: ['text', 'json_object'] } }, 'type'),
  object(
    { type: constant('json_schema'), name: TEXT, description: TEXT, schema: OBJECT, strict: FLAG },
    'type',
    'name',
    'schema',
  ),
);

const RESPONSES_PARAMETERS = {
  background: FLAG,
  context_management: ANY,
  conversation: ANY,
  include: listOf(TEXT),
  input: INPUT,
  instructions: TEXT,
  max_output_tokens: { type: 'integer', minimum: 16 },
  max_tool_calls: INTEGER,
  metadata: ANY,
  model: TEXT,
  moderation: ANY,
  parallel_tool_calls: FLAG,
  previous_response_id: TEXT,
  prompt: ANY,
  prompt_cache_key: TEXT,
  prompt_cache_options: ANY,
  prompt_cache_retention: TEXT,
  reasoning: object({ effort: TEXT, summary: TEXT, generate_summary: TEXT }),
  safety_identifier: TEXT,
  service_tier: TEXT,
  store: FLAG,
  stream: FLAG,
  stream_options: object({ include_obfuscation: FLAG }),
  temperature: NUMBER,
  text: object({ format: TEXT_FORMAT, verbosity: { enum: ['low', 'medium', 'high'] } }),
  tool_choice: ANY,
  tools: LIST,
  top_logprobs: INTEGER,
  top_p: NUMBER,
  truncation: TEXT,
  user: TEXT,
} satisfies Partial<Record<keyof OpenAI.Responses.ResponseCreateParams, Schema>>;

function refuseResponsesParameter(fault: ParameterFault): ProviderAnswer {
  if (formatPath(fault.path) !== 'max_output_tokens' || fault.kind !== 'type') {
    return wrongParameter(fault);
  }
  return openaiError(
    `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(fault.value)} instead.`,
    { param: 'max_output_tokens', code: 'integer_below_min_value' },
  );
}

/** Responses at api.openai.com. */
export const OPENAI_RESPONSES: InterfaceRules = {
  headers: needsKey,
  parameters: object(RESPONSES_PARAMETERS, 'model'),
  refuse: refuseResponsesParameter,
  rules: [
    withoutParameter(THINKING_MODELS, 'temperature', unsupported('temperature'), 1),
    withoutParameter(THINKING_MODELS, 'top_p', unsupported('top_p'), 1),
    withoutParameter(NOT_THINKING, 'reasoning.effort', unsupported('reasoning.effort')),
    body =>
      NOT_THINKING.test(getNamedModel(body)) &&
      JSON.stringify(body['include'] ?? []).includes('encrypted_content')
        ? openaiError('Encrypted content is not supported with this model.', { param: 'include' })
        : undefined,
    body =>
      getValueAt(body, 'text', 'format', 'type') === 'json_object' && !mentionsJson(body['input'])
        ? openaiError(
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
            { param: 'input' },
          )
        : undefined,
    body => findStrictFault(getValueAt(body, 'text', 'format'), 'text.format.schema'),
  ],
};
