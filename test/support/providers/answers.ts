import type { ServerResponse } from 'node:http';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { png } from '../png.ts';
import {
  chatAnswer,
  type ProviderAnswer,
  type ProviderHandler,
  type ProviderRequest,
} from './fake-provider.ts';
import type { Body } from './interface-rules.ts';
import { messageStream, messagesAnswer } from './messages-interface.ts';

/** Returns an answer of OpenAI's Responses. */
export function responsesAnswer(text: string, more: object = {}): ProviderAnswer {
  return { body: { ...responseWith([outputMessage(text)]), ...more } };
}

function responseWith(output: readonly object[]): Body {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_780_000_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'gpt-9',
    output,
    usage: {
      input_tokens: 40,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 42,
    },
  };
}

function outputMessage(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content };
}

const GEMINI_USAGE = { promptTokenCount: 40, candidatesTokenCount: 2, totalTokenCount: 42 };

/** Returns an answer of Google's `generateContent`. */
export function googleAnswer(text: string, count = 1): Body {
  const candidates = Array.from({ length: count }, (_, index) => ({
    content: { parts: [{ text }], role: 'model' },
    finishReason: 'STOP',
    index,
  }));
  return { candidates, usageMetadata: GEMINI_USAGE, modelVersion: 'gemini-9' };
}

function converse(text: string): ProviderAnswer {
  return {
    body: {
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 40, outputTokens: 2, totalTokens: 42 },
      metrics: { latencyMs: 1 },
    },
  };
}

function sendEvents(events: readonly object[], end = ''): ProviderHandler {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      const type =
        'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end(end);
  };
}

function chatStream(text: string): ProviderHandler {
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_780_000_000,
    model: 'tiny',
  };
  const usage = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 };
  return sendEvents(
    [
      {
        ...chunk,
        choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
      },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage },
    ],
    'data: [DONE]\n\n',
  );
}

function responseStream(text: string): ProviderHandler {
  const item = outputMessage(text);
  const place = { output_index: 0, item_id: 'msg_1', content_index: 0 };
  return sendEvents([
    { type: 'response.created', response: { ...responseWith([]), status: 'in_progress' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, content: [], status: 'in_progress' },
    },
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: responseWith([item]) },
  ]);
}

const CODEC = new EventStreamCodec(toUtf8, fromUtf8);

/** Returns a frame of Amazon's event stream. */
function frame(type: string, payload: object): Uint8Array {
  const headers = {
    ':event-type': type,
    ':message-type': 'event',
    ':content-type': 'application/json',
  };
  return CODEC.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value } as const]),
    ),
    body: fromUtf8(JSON.stringify(payload)),
  });
}

function sendFrames(frames: readonly Uint8Array[]): ProviderHandler {
  return answer => {
    answer.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    answer.end(Buffer.concat(frames));
  };
}

function converseStream(text: string): ProviderHandler {
  return sendFrames([
    frame('messageStart', { role: 'assistant' }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('messageStop', { stopReason: 'end_turn' }),
    frame('metadata', {
      usage: { inputTokens: 40, outputTokens: 2, totalTokens: 42 },
      metrics: { latencyMs: 1 },
    }),
  ]);
}

function messageFrames(text: string): ProviderHandler {
  const usage = { input_tokens: 40, output_tokens: 2 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-9',
    content: [],
    usage,
  };

  const events = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return sendFrames(
    events.map(event =>
      frame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
    ),
  );
}

/**
 * Returns the answer that the interface of a request gives, in the form that the request asks for.
 */
export function answerInForm(
  { path, text: body }: ProviderRequest,
  text = 'Hi',
): ProviderAnswer | ProviderHandler {
  const { stream, n, generationConfig } = JSON.parse(body.startsWith('{') ? body : '{}') as {
    stream?: boolean;
    n?: number;
    generationConfig?: { candidateCount?: number };
  };

  const picture = png(2, 2);
  const base64 = picture.toString('base64');
  if (path.includes('/images/')) {
    return { body: { created: 1_780_000_000, data: [{ b64_json: base64 }] } };
  }

  if (path.endsWith('/text_to_image')) {
    return { headers: { 'content-type': 'image/png' }, body: picture };
  }

  if (path.endsWith('/get_result')) {
    const sample = `data:image/png;base64,${base64}`;
    return { body: { id: 'task-1', status: 'Ready', result: { sample } } };
  }

  if (/\/workflows\/.*kontext/.test(path)) return { body: { request_id: 'task-1' } };

  if (/\/model\/amazon\.nova-canvas/.test(decodeURIComponent(path))) {
    return { body: { images: [base64], error: null } };
  }

  if (path.endsWith('/responses')) return stream ? responseStream(text) : responsesAnswer(text);

  if (/\/(messages|invoke)$/.test(path)) {
    return stream ? messageStream([text]) : messagesAnswer(text);
  }

  if (path.includes(':streamGenerateContent')) return sendEvents([googleAnswer(text)]);

  if (path.includes(':generateContent')) {
    return { body: googleAnswer(text, generationConfig?.candidateCount) };
  }

  if (path.endsWith('/converse')) return converse(text);
  if (path.endsWith('/converse-stream')) return converseStream(text);
  if (path.endsWith('/invoke-with-response-stream')) return messageFrames(text);
  if (stream) return chatStream(text);

  const one = chatAnswer(text).body as { choices: object[] };
  const choices = Array.from({ length: n ?? 1 }, (_, index) => ({ ...one.choices[0], index }));
  return { body: { ...one, choices } };
}
