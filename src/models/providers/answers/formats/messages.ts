import {
  isJsonObject,
  readListAt,
  readTextAt,
  readValueAt,
} from '../../../../utils/bounded-json.ts';
import {
  type AnswerFormat,
  includeCachedTokens,
  type ModelAnswer,
  readCountAt,
} from '../model-answer.ts';

/** Anthropic's Messages. */
export const MESSAGES: AnswerFormat = {
  emptyAnswer: {
    id: '',
    type: 'message',
    role: 'assistant',
    model: '',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: 0, output_tokens: 0 },
  },
  stopMeanings: {
    end_turn: 'whole',
    stop_sequence: 'whole',
    tool_use: 'whole',
    max_tokens: 'length',
    model_context_window_exceeded: 'context',
    pause_turn: 'paused',
    refusal: 'refusal',
  },
  read(object, answer) {
    switch (readTextAt(object, 'type') ?? '') {
      case 'message_start':
        return readMessage(readValueAt(object, 'message'), answer);
      case 'message_delta':
        answer.addCounts(readValueAt(object, 'usage'));
        return readStop(readValueAt(object, 'delta'), answer);
      case 'message_stop':
        answer.isEnded = true;
        return;
      case 'content_block_start':
        return readBlock(readValueAt(object, 'content_block'), answer);
      case 'content_block_delta':
        return readBlock(readValueAt(object, 'delta'), answer);
      case 'error':
        return answer.addError(readValueAt(object, 'error') ?? 'it gave no reason');
      default:
        return readMessage(object, answer);
    }
  },
  /**
   * Counts tokens read from or written to the cache as input. Compaction has its own counts, which
   * are added.
   */
  readUsage(counts) {
    const isCompaction = (iteration: unknown): boolean =>
      readTextAt(iteration, 'type') === 'compaction';
    const allCounts = [counts, ...readListAt(counts, 'iterations').filter(isCompaction)];
    const sum = (name: string): number | undefined => {
      const values = allCounts.flatMap(partialCounts => readCountAt(partialCounts, name) ?? []);
      return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
    };

    const input = sum('input_tokens');
    const output = sum('output_tokens');
    if (input === undefined || output === undefined) return undefined;

    const cached = sum('cache_read_input_tokens') ?? 0;
    const cacheWritten = sum('cache_creation_input_tokens');
    return includeCachedTokens({ input, output, cached, cacheWritten });
  },
};

function readMessage(message: unknown, answer: ModelAnswer): void {
  answer.addCounts(readValueAt(message, 'usage'));
  answer.tier = readTextAt(message, 'usage', 'service_tier') ?? answer.tier;
  readStop(message, answer);
  for (const block of readListAt(message, 'content')) readBlock(block, answer);
}

/** Reads a block of content, or a piece of one. */
function readBlock(block: unknown, answer: ModelAnswer): void {
  const type = readTextAt(block, 'type') ?? '';
  answer.hasThought ||= type.includes('thinking');
  if (type === 'text' || type === 'text_delta') answer.addText(readTextAt(block, 'text'));
  if (type === 'input_json_delta') answer.addToolCall(undefined, readTextAt(block, 'partial_json'));

  if (type === 'tool_use' && answer.keepsToolCalls) {
    answer.addText(`${answer.text === '' ? '' : '\n\n'}${JSON.stringify(block)}`);
  } else if (type === 'tool_use') {
    const input = readValueAt(block, 'input');
    const hasInput = isJsonObject(input) && Object.keys(input).length > 0;
    answer.addToolCall(readTextAt(block, 'name'), hasInput ? JSON.stringify(input) : undefined);
  }
}

function readStop(message: unknown, answer: ModelAnswer): void {
  answer.addStopReason(readTextAt(message, 'stop_reason'));
  answer.addRefusal(readTextAt(message, 'stop_details', 'explanation'));
}
