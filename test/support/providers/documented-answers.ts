import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { Reading, SentAnswer, SpokenTo } from './readings.ts';

// Answers in the form that the services document for them, made by hand after the examples of their
// references.

/** An answer, and what it says. */
export interface DocumentedAnswer {
  readonly what: string;
  readonly from: readonly SpokenTo[];
  readonly answer: SentAnswer;
  readonly says: Partial<Reading>;
}

const CHAT: readonly SpokenTo[] = [
  { engine: 'openai-chat', id: 'gpt-4o-mini' },
  { engine: 'openai', id: 'tiny' },
  { engine: 'openrouter', id: 'meta-llama/llama-3.3-70b' },
  { engine: 'together', id: 'llama' },
  { engine: 'xai', id: 'grok-4' },
  { engine: 'groq', id: 'llama-3.3-70b-versatile' },
  { engine: 'mistral', id: 'mistral-large-latest' },
  { engine: 'deepseek', id: 'deepseek-chat' },
  { engine: 'fireworks', id: 'accounts/fireworks/models/deepseek-v3' },
  { engine: 'cerebras', id: 'gpt-oss-120b' },
];

const RESPONSES: readonly SpokenTo[] = [
  { engine: 'openai-responses', id: 'gpt-5.6' },
  { engine: 'azure', id: 'gpt-5.6' },
];

const MESSAGES: readonly SpokenTo[] = [{ engine: 'anthropic', id: 'claude-haiku-4-5' }];

const GEMINI: readonly SpokenTo[] = [
  { engine: 'google', id: 'gemini-2.5-flash' },
  { engine: 'vertexai', id: 'gemini-2.5-flash' },
];

const CONVERSE: readonly SpokenTo[] = [{ engine: 'bedrock', id: 'amazon.nova-pro-v1:0' }];

const only = (from: readonly SpokenTo[], ...engines: SpokenTo['engine'][]): readonly SpokenTo[] =>
  from.filter(({ engine }) => engines.includes(engine));

type Message = OpenAI.ChatCompletionMessage;

/** A reason of OpenAI's, or of a provider that has more. */
type Reason =
  | OpenAI.ChatCompletion.Choice['finish_reason']
  | 'model_length'
  | 'insufficient_system_resource';

function completion(
  message: Partial<Omit<Message, 'content'>> & Record<string, unknown>,
  finish_reason: Reason = 'stop',
): Omit<OpenAI.ChatCompletion, 'choices'> & { choices: object[] } {
  return {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1_741_569_952,
    model: 'gpt-4.1-2025-04-14',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, ...message },
        logprobs: null,
        finish_reason,
      },
    ],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    service_tier: 'default',
  };
}

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & Record<string, unknown>;

function chunk(
  delta: Delta,
  finish_reason: OpenAI.ChatCompletionChunk.Choice['finish_reason'] = null,
): OpenAI.ChatCompletionChunk {
  return {
    id: 'chatcmpl-123',
    object: 'chat.completion.chunk',
    created: 1_694_268_190,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  };
}

const { usage: CHAT_USAGE = null } = completion({});

/**
 * Returns the end of a stream: the reason, and the usage with it (Mistral, Groq) or in its own
 * chunk.
 */
const ending = (
  reason: OpenAI.ChatCompletionChunk.Choice['finish_reason'],
): OpenAI.ChatCompletionChunk => ({
  ...chunk({}, reason),
  usage: CHAT_USAGE,
});

const CALL: OpenAI.ChatCompletionMessageFunctionToolCall = {
  id: 'call_abc123',
  type: 'function',
  function: { name: 'get_current_weather', arguments: '{"location":"Boston, MA"}' },
};

const CHAT_ANSWERS: readonly DocumentedAnswer[] = [
  {
    what: 'a text',
    from: CHAT,
    answer: { body: completion({ content: 'Hello! How can I assist you today?' }) },
    says: { text: 'Hello! How can I assist you today?', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a text in pieces',
    from: CHAT,
    answer: {
      events: [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hello' }),
        chunk({ content: ' 👋' }),
        ending('stop'),
        '[DONE]',
      ],
    },
    says: { text: 'Hello 👋', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a text that was cut off',
    from: CHAT,
    answer: { body: completion({ content: 'Once upon' }, 'length') },
    says: { text: 'Once upon', end: 'length', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a text in pieces that was cut off',
    from: CHAT,
    answer: {
      events: [chunk({ role: 'assistant', content: 'Once upon' }), ending('length'), '[DONE]'],
    },
    says: { text: 'Once upon', end: 'length', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a text that a filter cut off',
    from: CHAT,
    answer: { body: completion({ content: 'Once' }, 'content_filter') },
    says: { text: 'Once', end: 'filter', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a call of a tool',
    from: CHAT,
    answer: { body: completion({ tool_calls: [CALL] }, 'tool_calls') },
    says: { end: 'tool', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a refusal',
    from: CHAT,
    answer: { body: completion({ refusal: "I'm sorry, I cannot assist with that request." }) },
    says: { end: 'filter', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a text in pieces with its usage behind it',
    from: CHAT,
    answer: {
      events: [
        chunk({ role: 'assistant', content: 'Hi' }),
        chunk({}, 'stop'),
        { ...chunk({}), choices: [], usage: CHAT_USAGE },
        '[DONE]',
      ],
    },
    says: { text: 'Hi', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a thought before the text',
    from: CHAT,
    answer: { body: completion({ content: '9.8', reasoning_content: '9.11 is less than 9.8.' }) },
    says: { text: '9.8', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a stream that breaks off',
    from: CHAT,
    answer: {
      events: [chunk({ role: 'assistant', content: 'Once' }), chunk({ content: ' upon' })],
    },
    says: { text: 'Once upon', end: 'broken' },
  },
  {
    what: 'an error in the stream, and a good end behind it',
    from: CHAT,
    answer: {
      events: [
        chunk({ role: 'assistant', content: 'Once' }),
        {
          error: {
            message: 'The server had an error',
            type: 'server_error',
            param: null,
            code: null,
          },
        },
        ending('stop'),
        '[DONE]',
      ],
    },
    says: { text: 'Once', end: 'error' },
  },
  {
    what: 'an error in a choice',
    from: only(CHAT, 'openrouter'),
    answer: {
      body: {
        ...completion({ content: 'Once' }),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Once' },
            finish_reason: 'error',
            native_finish_reason: null,
            error: { code: 502, message: 'Provider returned error' },
          },
        ],
      },
    },
    says: { text: 'Once', end: 'error', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a picture',
    from: only(CHAT, 'openrouter'),
    answer: {
      body: completion({
        content: 'Here it is',
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      }),
    },
    says: {
      text: 'Here it is',
      tokens: [19, 10, 8, 0],
      pictures: ['data:image/png;base64,iVBORw0KGgo='],
    },
  },
  {
    what: 'thinking beside the completion',
    from: only(CHAT, 'xai'),
    answer: {
      body: {
        ...completion({ content: 'Grok' }),
        usage: {
          prompt_tokens: 32,
          completion_tokens: 9,
          total_tokens: 135,
          prompt_tokens_details: {
            text_tokens: 32,
            audio_tokens: 0,
            image_tokens: 0,
            cached_tokens: 6,
          },
          completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
          num_sources_used: 0,
        },
      },
    },
    says: { text: 'Grok', tokens: [32, 103, 6, 0] },
  },
  {
    what: 'its own usage',
    from: only(CHAT, 'groq'),
    answer: {
      events: [
        chunk({ role: 'assistant', content: 'Hi' }),
        {
          ...chunk({}, 'stop'),
          x_groq: {
            id: 'req_01jbd6g2qdfw2adyrt2az8hz4w',
            usage: {
              queue_time: 0.0061,
              prompt_tokens: 18,
              completion_tokens: 3,
              total_tokens: 21,
            },
          },
        },
        '[DONE]',
      ],
    },
    says: { text: 'Hi', tokens: [18, 3, 0, 0] },
  },
  {
    what: 'a text and a thought in parts',
    from: only(CHAT, 'mistral'),
    answer: {
      body: completion({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: '2+2=4.' }] },
          { type: 'text', text: '2 + 2 = 4' },
        ],
      }),
    },
    says: { text: '2 + 2 = 4', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a full context',
    from: only(CHAT, 'mistral'),
    answer: { body: completion({ content: 'Once' }, 'model_length') },
    says: { text: 'Once', end: 'length', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a lack of capacity',
    from: only(CHAT, 'deepseek'),
    answer: { body: completion({ content: 'Once' }, 'insufficient_system_resource') },
    says: { text: 'Once', end: 'broken', tokens: [19, 10, 8, 0] },
  },
  {
    what: 'a hit of the cache',
    from: only(CHAT, 'deepseek'),
    answer: {
      body: {
        ...completion({ content: 'Hi' }),
        usage: {
          prompt_tokens: 563,
          completion_tokens: 116,
          total_tokens: 679,
          prompt_cache_hit_tokens: 512,
          prompt_cache_miss_tokens: 51,
          completion_tokens_details: { reasoning_tokens: 60 },
        },
      },
    },
    says: { text: 'Hi', tokens: [563, 116, 512, 0] },
  },
];

type Response = OpenAI.Responses.Response;

const OUTPUT_TEXT: OpenAI.Responses.ResponseOutputMessage = {
  type: 'message',
  id: 'msg_67ccd2bf17f0819081ff3bb2cf6508e6',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'A unicorn under starlight.', annotations: [] }],
};

function responseWith(
  output: readonly (OpenAI.Responses.ResponseOutputItem | { type: 'dream' })[],
  more: Partial<Pick<Response, 'status' | 'error' | 'incomplete_details'>> = {},
): object {
  return {
    id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    object: 'response',
    created_at: 1_741_476_542,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'gpt-4.1-2025-04-14',
    output,
    temperature: 1,
    top_p: 1,
    metadata: {},
    usage: {
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 16, cache_write_tokens: 4 },
      output_tokens: 87,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 123,
    },
    ...more,
  } satisfies Partial<Omit<Response, 'output'>> & { output: unknown };
}

const RESPONSE_TOKENS = [36, 87, 16, 4] as const;
const AT = { item_id: OUTPUT_TEXT.id, output_index: 0, content_index: 0 } as const;

const responseEvents = (
  texts: readonly string[],
  ...last: OpenAI.Responses.ResponseStreamEvent[] | object[]
): SentAnswer => ({
  events: [
    {
      type: 'response.created',
      sequence_number: 0,
      response: responseWith([], { status: 'in_progress' }),
    },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...OUTPUT_TEXT, status: 'in_progress', content: [] },
    },
    ...texts.map((delta, index) => ({
      type: 'response.output_text.delta',
      sequence_number: 2 + index,
      ...AT,
      delta,
      logprobs: [],
    })),
    ...last,
  ],
});

const RESPONSES_ANSWERS: readonly DocumentedAnswer[] = [
  {
    what: 'a text behind a thought',
    from: RESPONSES,
    answer: { body: responseWith([{ type: 'reasoning', id: 'rs_1', summary: [] }, OUTPUT_TEXT]) },
    says: { text: 'A unicorn under starlight.', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a text in pieces',
    from: RESPONSES,
    answer: responseEvents(
      ['A unicorn', ' under starlight.'],
      { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item: OUTPUT_TEXT },
      { type: 'response.completed', sequence_number: 9, response: responseWith([OUTPUT_TEXT]) },
    ),
    says: { text: 'A unicorn under starlight.', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a text that was cut off',
    from: RESPONSES,
    answer: {
      body: responseWith([OUTPUT_TEXT], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
    },
    says: { text: 'A unicorn under starlight.', end: 'length', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a text in pieces that was cut off',
    from: RESPONSES,
    answer: responseEvents(['A unicorn'], {
      type: 'response.incomplete',
      sequence_number: 9,
      response: responseWith([], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
    }),
    says: { text: 'A unicorn', end: 'length', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a text that a filter withheld',
    from: RESPONSES,
    answer: {
      body: responseWith([], {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
      }),
    },
    says: { end: 'filter', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a refusal',
    from: RESPONSES,
    answer: {
      body: responseWith([
        { ...OUTPUT_TEXT, content: [{ type: 'refusal', refusal: 'I can’t help with that.' }] },
      ]),
    },
    says: { end: 'filter', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a failure',
    from: RESPONSES,
    answer: {
      body: responseWith([], {
        status: 'failed',
        error: { code: 'server_error', message: 'The model failed to generate a response.' },
      }),
    },
    says: { end: 'error', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'an error in the stream',
    from: RESPONSES,
    answer: responseEvents(['A unicorn'], {
      type: 'error',
      sequence_number: 9,
      code: 'server_error',
      message: 'Something went wrong',
      param: null,
    }),
    says: { text: 'A unicorn', end: 'error' },
  },
  {
    what: 'a stream that breaks off',
    from: RESPONSES,
    answer: responseEvents(['A unicorn']),
    says: { text: 'A unicorn', end: 'broken' },
  },
  {
    what: 'a call of a tool',
    from: RESPONSES,
    answer: {
      body: responseWith([
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'get_current_weather',
          arguments: '{"location":"Boston, MA"}',
          status: 'completed',
        },
      ]),
    },
    says: { end: 'tool', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a kind of item that nobody knows beside the text',
    from: RESPONSES,
    answer: { body: responseWith([{ type: 'dream' }, OUTPUT_TEXT]) },
    says: { text: 'A unicorn under starlight.', tokens: RESPONSE_TOKENS },
  },
  {
    what: 'a picture',
    from: RESPONSES,
    answer: {
      body: responseWith([
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
        OUTPUT_TEXT,
      ]),
    },
    says: {
      text: 'A unicorn under starlight.',
      tokens: RESPONSE_TOKENS,
      pictures: ['iVBORw0KGgo='],
    },
  },
];

type Messages = Anthropic.Messages.Message;

const CLAUDE_USAGE = {
  input_tokens: 2095,
  output_tokens: 503,
  cache_creation_input_tokens: 2051,
  cache_read_input_tokens: 1024,
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 2051 },
  service_tier: 'standard',
} as const;

const CLAUDE_TOKENS = [5170, 503, 1024, 2051] as const;

function messageWith(
  content: readonly object[],
  stop_reason: Messages['stop_reason'],
  more: object = {},
): object {
  return {
    id: 'msg_013Zva2CMHLNnjNjJKqJ2EF',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content,
    stop_reason,
    stop_sequence: null,
    usage: CLAUDE_USAGE,
    ...more,
  };
}

const SAID = { type: 'text', text: 'Hi! My name is Claude.', citations: null } as const;

const messageEvents = (texts: readonly string[], ...last: object[]): SentAnswer => ({
  events: [
    {
      type: 'message_start',
      message: messageWith([], null, { usage: { ...CLAUDE_USAGE, output_tokens: 1 } }),
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...texts.map(text => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    ...last,
  ],
});

const messageEnd = (stop_reason: Messages['stop_reason']): object[] => [
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 503 },
  },
  { type: 'message_stop' },
];

const MESSAGES_ANSWERS: readonly DocumentedAnswer[] = [
  {
    what: 'a text behind a thought',
    from: MESSAGES,
    answer: {
      body: messageWith(
        [{ type: 'thinking', thinking: 'A greeting.', signature: 'zbbJhb' }, SAID],
        'end_turn',
      ),
    },
    says: { text: SAID.text, tokens: CLAUDE_TOKENS },
  },
  {
    what: 'a text in pieces',
    from: MESSAGES,
    answer: messageEvents(['Hi! My name', ' is Claude.'], ...messageEnd('end_turn')),
    says: { text: SAID.text, tokens: CLAUDE_TOKENS },
  },
  ...(
    [
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['stop_sequence', 'whole'],
      ['refusal', 'filter'],
      ['pause_turn', 'broken'],
    ] as const
  ).flatMap(([reason, end]): DocumentedAnswer[] => [
    {
      what: `a text that ends with ${reason}`,
      from: MESSAGES,
      answer: { body: messageWith([SAID], reason) },
      says: { text: SAID.text, end, tokens: CLAUDE_TOKENS },
    },
    {
      what: `a text in pieces that ends with ${reason}`,
      from: MESSAGES,
      answer: messageEvents([SAID.text], ...messageEnd(reason)),
      says: { text: SAID.text, end, tokens: CLAUDE_TOKENS },
    },
  ]),
  {
    what: 'an error in the stream',
    from: MESSAGES,
    answer: messageEvents(['Hi!'], {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    }),
    says: { text: 'Hi!', end: 'error', tokens: [5170, 1, 1024, 2051] },
  },
  {
    what: 'a stream that breaks off',
    from: MESSAGES,
    answer: messageEvents(['Hi!']),
    says: { text: 'Hi!', end: 'broken', tokens: [5170, 1, 1024, 2051] },
  },
  {
    what: 'a call of a tool',
    from: MESSAGES,
    answer: {
      body: messageWith(
        [{ type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: { location: 'Boston' } }],
        'tool_use',
      ),
    },
    says: { end: 'tool', tokens: CLAUDE_TOKENS },
  },
  {
    what: 'a kind of block that nobody knows beside the text',
    from: MESSAGES,
    answer: { body: messageWith([{ type: 'dream', dream: 'sheep' }, SAID], 'end_turn') },
    says: { text: SAID.text, tokens: CLAUDE_TOKENS },
  },
  {
    what: 'work that was done in several turns',
    from: MESSAGES,
    answer: {
      body: messageWith([SAID], 'end_turn', {
        usage: {
          input_tokens: 612,
          output_tokens: 2819,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          iterations: [
            {
              type: 'compaction',
              input_tokens: 60_385,
              output_tokens: 522,
              cache_creation_input_tokens: 0,
              cache_read_input_tokens: 0,
            },
            {
              type: 'message',
              input_tokens: 612,
              output_tokens: 2819,
              cache_creation_input_tokens: 0,
              cache_read_input_tokens: 0,
            },
          ],
        },
      }),
    },
    says: { text: SAID.text, tokens: [60_997, 3341, 0, 0] },
  },
];

function generatedContent(
  parts: readonly object[],
  finishReason: string | undefined,
  more: object = {},
): object {
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 500,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 180,
      totalTokenCount: 700,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 500 }],
    },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
    ...more,
  };
}

const GEMINI_TOKENS = [500, 200, 400, 0] as const;
const THOUGHT = { text: 'Counting letters.', thought: true } as const;

const GEMINI_ANSWERS: readonly DocumentedAnswer[] = [
  {
    what: 'a text behind a thought',
    from: GEMINI,
    answer: { body: generatedContent([THOUGHT, { text: 'There are 3.' }], 'STOP') },
    says: { text: 'There are 3.', tokens: GEMINI_TOKENS },
  },
  {
    what: 'a text in pieces',
    from: GEMINI,
    answer: {
      events: [
        generatedContent([THOUGHT], undefined),
        generatedContent([{ text: 'There' }], undefined),
        generatedContent([{ text: ' are 3.' }], 'STOP'),
      ],
    },
    says: { text: 'There are 3.', tokens: GEMINI_TOKENS },
  },
  ...(
    [
      ['MAX_TOKENS', 'length'],
      ['SAFETY', 'filter'],
      ['RECITATION', 'filter'],
      ['PROHIBITED_CONTENT', 'filter'],
      ['SPII', 'filter'],
      ['BLOCKLIST', 'filter'],
      ['LANGUAGE', 'filter'],
    ] as const
  ).flatMap(([reason, end]): DocumentedAnswer[] => [
    {
      what: `a text that ends with ${reason}`,
      from: GEMINI,
      answer: { body: generatedContent([{ text: 'There' }], reason) },
      says: { text: 'There', end, tokens: GEMINI_TOKENS },
    },
    {
      what: `a text in pieces that ends with ${reason}`,
      from: GEMINI,
      answer: { events: [generatedContent([{ text: 'There' }], reason)] },
      says: { text: 'There', end, tokens: GEMINI_TOKENS },
    },
  ]),
  {
    what: 'a prompt that is blocked',
    from: GEMINI,
    answer: {
      body: {
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
        modelVersion: 'gemini-2.5-flash',
      },
    },
    says: { end: 'filter', tokens: [9, 0, 0, 0] },
  },
  {
    what: 'a picture',
    from: GEMINI,
    answer: {
      body: generatedContent(
        [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
        'STOP',
      ),
    },
    says: { text: 'Here: ', tokens: GEMINI_TOKENS, pictures: ['iVBORw0KGgo='] },
  },
  {
    what: 'a call of a tool',
    from: GEMINI,
    answer: {
      body: generatedContent(
        [{ functionCall: { name: 'get_weather', args: { location: 'Boston' } } }],
        'STOP',
      ),
    },
    says: { end: 'tool', tokens: GEMINI_TOKENS },
  },
  {
    what: 'a stream that breaks off',
    from: GEMINI,
    answer: { events: [generatedContent([{ text: 'There' }], undefined)] },
    says: { text: 'There', end: 'broken', tokens: GEMINI_TOKENS },
  },
];

function converse(content: readonly object[], stopReason: string): object {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage: CONVERSE_USAGE,
    metrics: { latencyMs: 1275 },
  };
}

const CONVERSE_USAGE = {
  inputTokens: 12,
  outputTokens: 5,
  totalTokens: 67,
  cacheReadInputTokens: 30,
  cacheWriteInputTokens: 20,
};

const CONVERSE_TOKENS = [62, 5, 30, 20] as const;

const converseEvents = (stopReason: string): SentAnswer => ({
  events: [
    { messageStart: { role: 'assistant' } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Here is' } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: ' a song.' } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason } },
    { metadata: { usage: CONVERSE_USAGE, metrics: { latencyMs: 1275 } } },
  ],
});

const CONVERSE_ANSWERS: readonly DocumentedAnswer[] = [
  ...(
    [
      ['end_turn', 'whole'],
      ['stop_sequence', 'whole'],
      ['max_tokens', 'length'],
      ['content_filtered', 'filter'],
      ['guardrail_intervened', 'filter'],
    ] as const
  ).flatMap(([reason, end]): DocumentedAnswer[] => [
    {
      what: `a text that ends with ${reason}`,
      from: CONVERSE,
      answer: { body: converse([{ text: 'Here is a song.' }], reason) },
      says: { text: 'Here is a song.', end, tokens: CONVERSE_TOKENS },
    },
    {
      what: `a text in pieces that ends with ${reason}`,
      from: CONVERSE,
      answer: converseEvents(reason),
      says: { text: 'Here is a song.', end, tokens: CONVERSE_TOKENS },
    },
  ]),
  {
    what: 'a call of a tool',
    from: CONVERSE,
    answer: {
      body: converse(
        [{ toolUse: { toolUseId: 'tooluse_1', name: 'top_song', input: { sign: 'WZPZ' } } }],
        'tool_use',
      ),
    },
    says: { end: 'tool', tokens: CONVERSE_TOKENS },
  },
];

/** Answers of every interface. */
export const DOCUMENTED: readonly DocumentedAnswer[] = [
  ...CHAT_ANSWERS,
  ...RESPONSES_ANSWERS,
  ...MESSAGES_ANSWERS,
  ...GEMINI_ANSWERS,
  ...CONVERSE_ANSWERS,
];
