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

/** Amazon Bedrock's Converse. Each event of its stream is an object with one key, its type. */
export const CONVERSE: AnswerFormat = {
  emptyAnswer: {
    output: { message: { role: 'assistant', content: [] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  },
  stopMeanings: {
    end_turn: 'whole',
    stop_sequence: 'whole',
    tool_use: 'whole',
    max_tokens: 'length',
    model_context_window_exceeded: 'context',
    guardrail_intervened: 'filter',
    content_filtered: 'filter',
    malformed_model_output: 'broken',
    malformed_tool_use: 'broken',
  },
  read(object, answer) {
    for (const block of readListAt(object, 'output', 'message', 'content')) {
      readBlock(block, answer);
    }

    answer.addStopReason(
      readTextAt(object, 'stopReason') ?? readTextAt(object, 'messageStop', 'stopReason'),
    );
    readBlock(readValueAt(object, 'contentBlockStart', 'start'), answer);
    readBlock(readValueAt(object, 'contentBlockDelta', 'delta'), answer);
    const end = readValueAt(object, 'metadata');
    answer.isEnded ||= end !== undefined;

    for (const holder of [object, end]) {
      answer.addCounts(readValueAt(holder, 'usage'));
      answer.tier = readTextAt(holder, 'serviceTier', 'type') ?? answer.tier;
    }
  },
  readUsage(counts) {
    const input = readCountAt(counts, 'inputTokens');
    const output = readCountAt(counts, 'outputTokens');
    if (input === undefined || output === undefined) return undefined;
    const cached = readCountAt(counts, 'cacheReadInputTokens') ?? 0;
    const cacheWritten = readCountAt(counts, 'cacheWriteInputTokens');
    return includeCachedTokens({ input, output, cached, cacheWritten });
  },
};

function readBlock(block: unknown, answer: ModelAnswer): void {
  answer.addText(readTextAt(block, 'text'));
  answer.hasThought ||= isJsonObject(readValueAt(block, 'reasoningContent'));
  const toolUse = readValueAt(block, 'toolUse');
  if (toolUse === undefined) return;

  const input = readValueAt(toolUse, 'input');
  answer.addToolCall(
    readTextAt(toolUse, 'name'),
    isJsonObject(input) ? JSON.stringify(input) : readTextAt(toolUse, 'input'),
  );
}
