import type { ServerResponse } from 'node:http';
import type { ProviderAnswer, ProviderHandler } from './fake-provider.ts';

const USAGE = {
  input_tokens: 10,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 2,
  output_tokens: 5,
};

/** Returns an answer of Anthropic's Messages interface. */
export function messagesAnswer(content: unknown, more: object = {}): ProviderAnswer {
  return {
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-9',
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: USAGE,
      ...more,
    },
  };
}

/** Returns an error of the Messages interface. */
export function messagesError(
  status: number,
  type: string,
  text: string,
  headers = {},
): ProviderAnswer {
  return {
    status,
    headers,
    body: { type: 'error', error: { type, message: text }, request_id: 'req_1' },
  };
}

/**
 * The point where a streamed answer stops: its end, before its last events, an error event, or the
 * middle of an event.
 */
export type StreamEnd = 'whole' | 'silent' | 'error' | 'cut';

/** Returns the same answer as a stream, with its text in pieces. */
export function messageStream(
  pieces: readonly string[],
  end: StreamEnd = 'whole',
  stopReason = 'end_turn',
): ProviderHandler {
  return response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const { output_tokens: _, ...input } = USAGE;
    send(response, 'message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-9',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...input, output_tokens: 1 },
      },
    });

    send(response, 'content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    send(response, 'ping', {});

    for (const text of pieces) {
      send(response, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    }

    if (end === 'cut') {
      response.write('event: content_block_delta\ndata: {"ty', () => response.destroy());
      return;
    }

    if (end === 'error') {
      send(response, 'error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
    }

    if (end !== 'whole') {
      response.end();
      return;
    }

    send(response, 'content_block_stop', { index: 0 });
    send(response, 'message_delta', {
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 5 },
    });
    send(response, 'message_stop', {});
    response.end();
  };
}

function send(response: ServerResponse, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}
