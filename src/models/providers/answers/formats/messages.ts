import { isJsonObject, listAt, textAt, valueAt } from '../../../../utils/bounded-json.ts';
import { type AnswerFormat, countAt, type ModelAnswer, usageBesideCache } from '../model-answer.ts';

/** Anthropic's Messages. */
export const MESSAGES: AnswerFormat = {
  empty: {
    id: '',
    type: 'message',
    role: 'assistant',
    model: '',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: 0, output_tokens: 0 },
  },
  stops: {
    end_turn: 'whole',
    stop_sequence: 'whole',
    tool_use: 'whole',
    max_tokens: 'length',
    model_context_window_exceeded: 'context',
    pause_turn: 'paused',
    refusal: 'refusal',
  },
  read(object, answer) {
    switch (textAt(object, 'type') ?? '') {
      case 'message_start':
        return readMessage(valueAt(object, 'message'), answer);
      case 'message_delta':
        answer.addCounts(valueAt(object, 'usage'));
        return readStop(valueAt(object, 'delta'), answer);
      case 'message_stop':
        answer.isEnded = true;
        return;
      case 'content_block_start':
        return readBlock(valueAt(object, 'content_block'), answer);
      case 'content_block_delta':
        return readBlock(valueAt(object, 'delta'), answer);
      case 'error':
        return answer.setError(valueAt(object, 'error') ?? 'it gave no reason');
      default:
        return readMessage(object, answer);
    }
  },
  /** Counts tokens read from or written to the cache as input. Compaction has its own counts, which are added. */
  usage(counts) {
    const isCompaction = (iteration: unknown): boolean => textAt(iteration, 'type') === 'compaction';
    const allCounts = [counts, ...listAt(counts, 'iterations').filter(isCompaction)];
    const sum = (name: string): number | undefined => {
      const values = allCounts.flatMap(part => countAt(part, name) ?? []);
      return values.length === 0 ? undefined : values.reduce((one, other) => one + other, 0);
    };
    const input = sum('input_tokens');
    const output = sum('output_tokens');
    if (input === undefined || output === undefined) return undefined;
    const cached = sum('cache_read_input_tokens') ?? 0;
    const cacheWritten = sum('cache_creation_input_tokens');
    return usageBesideCache({ input, output, cached, cacheWritten });
  },
};

function readMessage(message: unknown, answer: ModelAnswer): void {
  answer.addCounts(valueAt(message, 'usage'));
  answer.tier = textAt(message, 'usage', 'service_tier') ?? answer.tier;
  readStop(message, answer);
  for (const block of listAt(message, 'content')) readBlock(block, answer);
}

/** Reads a block of content, or a piece of one. */
function readBlock(block: unknown, answer: ModelAnswer): void {
  const type = textAt(block, 'type') ?? '';
  answer.hasThought ||= type.includes('thinking');
  if (type === 'text' || type === 'text_delta') answer.addText(textAt(block, 'text'));
  if (type === 'input_json_delta') answer.addToolCall(undefined, textAt(block, 'partial_json'));
  if (type === 'tool_use' && answer.keepsCalls) {
    answer.addText(`${answer.text === '' ? '' : '\n\n'}${JSON.stringify(block)}`);
  } else if (type === 'tool_use') {
    const input = valueAt(block, 'input');
    const isThere = isJsonObject(input) && Object.keys(input).length > 0;
    answer.addToolCall(textAt(block, 'name'), isThere ? JSON.stringify(input) : undefined);
  }
}

function readStop(message: unknown, answer: ModelAnswer): void {
  answer.addStopReason(textAt(message, 'stop_reason'));
  answer.addRefusal(textAt(message, 'stop_details', 'explanation'));
}
