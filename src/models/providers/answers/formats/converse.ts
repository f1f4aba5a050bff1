import { isJsonObject, listAt, textAt, valueAt } from '../../../../utils/bounded-json.ts';
import { type AnswerFormat, countAt, type ModelAnswer, usageBesideCache } from '../model-answer.ts';

/** Amazon Bedrock's Converse. Each event of its stream is an object with one key, its type. */
export const CONVERSE: AnswerFormat = {
  empty: {
    output: { message: { role: 'assistant', content: [] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  },
  stops: {
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
    for (const block of listAt(object, 'output', 'message', 'content')) readBlock(block, answer);
    answer.addStopReason(textAt(object, 'stopReason') ?? textAt(object, 'messageStop', 'stopReason'));
    readBlock(valueAt(object, 'contentBlockStart', 'start'), answer);
    readBlock(valueAt(object, 'contentBlockDelta', 'delta'), answer);
    const end = valueAt(object, 'metadata');
    answer.isEnded ||= end !== undefined;
    for (const holder of [object, end]) {
      answer.addCounts(valueAt(holder, 'usage'));
      answer.tier = textAt(holder, 'serviceTier', 'type') ?? answer.tier;
    }
  },
  usage(counts) {
    const input = countAt(counts, 'inputTokens');
    const output = countAt(counts, 'outputTokens');
    if (input === undefined || output === undefined) return undefined;
    const cached = countAt(counts, 'cacheReadInputTokens') ?? 0;
    const cacheWritten = countAt(counts, 'cacheWriteInputTokens');
    return usageBesideCache({ input, output, cached, cacheWritten });
  },
};

function readBlock(block: unknown, answer: ModelAnswer): void {
  answer.addText(textAt(block, 'text'));
  answer.hasThought ||= isJsonObject(valueAt(block, 'reasoningContent'));
  const toolUse = valueAt(block, 'toolUse');
  if (toolUse === undefined) return;
  const input = valueAt(toolUse, 'input');
  answer.addToolCall(
    textAt(toolUse, 'name'),
    isJsonObject(input) ? JSON.stringify(input) : textAt(toolUse, 'input'),
  );
}
