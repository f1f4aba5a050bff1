import {
  isJsonObject,
  readListAt,
  readTextAt,
  readValueAt,
} from '../../../../utils/bounded-json.ts';
import type { AnswerImage } from '../fetch-answer-images.ts';
import { type AnswerFormat, type ModelAnswer, readCountAt } from '../model-answer.ts';
import { readTokenUsage } from './token-usage.ts';

/** Fields that hold a model's thinking. */
const THOUGHT_FIELDS = ['reasoning', 'reasoning_content', 'thinking'];

/** Chat Completions of any provider. */
export const CHAT: AnswerFormat = {
  emptyAnswer: {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  },
  stopMeanings: {
    stop: 'whole',
    eos: 'whole',
    end_turn: 'whole',
    stop_sequence: 'whole',
    tool_calls: 'whole',
    function_call: 'whole',
    length: 'length',
    max_tokens: 'length',
    model_length: 'context',
    model_context_window_exceeded: 'context',
    insufficient_system_resource: 'resources',
    pause_turn: 'paused',
    recitation: 'filter',
    refusal: 'refusal',
    error: 'error',
    cancelled: 'broken',
    aborted: 'broken',
  },
  read(object, answer) {
    // Groq's streams put the usage elsewhere.
    answer.addCounts(readValueAt(object, 'usage') ?? readValueAt(object, 'x_groq', 'usage'));
    answer.tier = readTextAt(object, 'service_tier') ?? answer.tier;
    for (const choice of readListAt(object, 'choices')) readAnswerChoice(choice, answer);
  },
  readUsage: readTokenUsage,
};

function readAnswerChoice(choice: unknown, answer: ModelAnswer): void {
  const index = readCountAt(choice, 'index') ?? 0;
  answer.addStopReason(readTextAt(choice, 'finish_reason'));
  answer.addError(readValueAt(choice, 'error'));
  const message = readValueAt(choice, 'message') ?? readValueAt(choice, 'delta');
  answer.addRefusal(readTextAt(message, 'refusal'));
  const calls = [
    ...readListAt(message, 'tool_calls'),
    readValueAt(message, 'function_call'),
  ].filter(isJsonObject);
  if (answer.keepsToolCalls && calls.length > 0) return answer.addText(formatCalls(message), index);

  for (const call of calls) {
    const calledFunction = readValueAt(call, 'function') ?? call;
    answer.addToolCall(
      readTextAt(calledFunction, 'name'),
      readTextAt(calledFunction, 'arguments'),
      index,
    );
  }

  const parts = listContentParts(readValueAt(message, 'content'));
  const isThought = parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
  answer.hasThought ||= isThought || THOUGHT_FIELDS.some(key => Boolean(readValueAt(message, key)));
  answer.images.push(
    ...[...parts, ...listContentParts(readValueAt(message, 'images'))].flatMap(collectImages),
  );
  for (const part of parts.filter(isTextPart)) answer.addText(readTextAt(part, 'text'), index);
}

/** Returns the calls of a message as JSON, or the whole message if it also has text. */
function formatCalls(message: unknown): string {
  const hasText = Boolean(readValueAt(message, 'content'));
  const calls = readValueAt(message, 'function_call') ?? readValueAt(message, 'tool_calls');
  return JSON.stringify(hasText ? message : calls);
}

/** Returns the parts of a content, which may be a plain text. */
function listContentParts(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : readListAt(content).filter(isJsonObject);
}

function isTextPart({ type }: Record<string, unknown>): boolean {
  return type === 'text' || type === 'output_text';
}

/** Returns the image in a part. Its URL is the value of `image_url`, or in an object there. */
function collectImages(part: unknown): AnswerImage[] {
  const url = readTextAt(part, 'image_url', 'url') ?? readTextAt(part, 'image_url');
  const base64 = readTextAt(part, 'b64_json');
  if (url !== undefined) return [{ url }];
  return base64 === undefined ? [] : [{ base64 }];
}
