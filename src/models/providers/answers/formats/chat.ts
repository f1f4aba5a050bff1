import { withoutUndefined } from '../../../../files/formats/json.ts';
import {
  isJsonObject,
  readListAt,
  readTextAt,
  readValueAt,
} from '../../../../utils/bounded-json.ts';
import type { ProviderUsage } from '../../../engine.ts';
import type { PictureSource } from '../fetch-pictures.ts';
import {
  type AnswerFormat,
  type ModelAnswer,
  type ReportedCounts,
  readCountAt,
} from '../model-answer.ts';

/** Chat Completions of any provider. */
export const CHAT: AnswerFormat = {
  empty: {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  },
  stops: {
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
  usage: readTokenUsage,
};

function readAnswerChoice(choice: unknown, answer: ModelAnswer): void {
  const index = readCountAt(choice, 'index') ?? 0;
  answer.addStopReason(readTextAt(choice, 'finish_reason'));
  answer.setError(readValueAt(choice, 'error'));
  const message = readValueAt(choice, 'message') ?? readValueAt(choice, 'delta');
  answer.addRefusal(readTextAt(message, 'refusal'));
  const calls = [
    ...readListAt(message, 'tool_calls'),
    readValueAt(message, 'function_call'),
  ].filter(isJsonObject);
  if (answer.keepsCalls && calls.length > 0) return answer.addText(callsText(message), index);

  for (const call of calls) {
    const named = readValueAt(call, 'function') ?? call;
    answer.addToolCall(readTextAt(named, 'name'), readTextAt(named, 'arguments'), index);
  }

  const parts = listContentParts(readValueAt(message, 'content'));
  const isThought = parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
  answer.hasThought ||= isThought || THOUGHTS.some(key => Boolean(readValueAt(message, key)));
  answer.pictures.push(
    ...[...parts, ...listContentParts(readValueAt(message, 'images'))].flatMap(collectPictures),
  );
  for (const part of parts.filter(isTextPart)) answer.addText(readTextAt(part, 'text'), index);
}

/** Returns the calls of a message as JSON, or the whole message if it also has text. */
function callsText(message: unknown): string {
  const hasText = Boolean(readValueAt(message, 'content'));
  const calls = readValueAt(message, 'function_call') ?? readValueAt(message, 'tool_calls');
  return JSON.stringify(hasText ? message : calls);
}

/** Fields that hold a model's thinking. */
const THOUGHTS = ['reasoning', 'reasoning_content', 'thinking'];

/** Returns the parts of a content, which may be a plain text. */
function listContentParts(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : readListAt(content).filter(isJsonObject);
}

function isTextPart({ type }: Record<string, unknown>): boolean {
  return type === 'text' || type === 'output_text';
}

/** Returns the picture in a part. Its URL is the value of `image_url`, or in an object there. */
function collectPictures(part: unknown): PictureSource[] {
  const url = readTextAt(part, 'image_url', 'url') ?? readTextAt(part, 'image_url');
  const base64 = readTextAt(part, 'b64_json');
  if (url !== undefined) return [{ url }];
  return base64 === undefined ? [] : [{ base64 }];
}

/**
 * Returns the usage from the counts of OpenAI's interfaces and their imitations. Some leave
 * thinking out of the completion but include it in the total.
 */
export function readTokenUsage(counts: ReportedCounts): ProviderUsage | undefined {
  const count = (...path: string[]): number | undefined => readCountAt(counts, ...path);
  const input = count('prompt_tokens') ?? count('input_tokens');
  const completion = count('completion_tokens') ?? count('output_tokens');
  if (input === undefined || completion === undefined) return undefined;

  const output = Math.max(completion, (count('total_tokens') ?? 0) - input);
  const cachedTokens =
    count('prompt_tokens_details', 'cached_tokens') ??
    count('input_tokens_details', 'cached_tokens') ??
    count('prompt_cache_hit_tokens') ??
    count('cached_tokens') ??
    0;

  const writtenTokens =
    count('prompt_tokens_details', 'cache_write_tokens') ??
    count('input_tokens_details', 'cache_write_tokens') ??
    count('cache_creation_input_tokens');
  return withoutUndefined({
    input,
    output,
    cached: Math.min(cachedTokens, input),
    cacheWritten: writtenTokens === undefined ? undefined : Math.min(writtenTokens, input),
    dollars: readReportedCost(counts),
  });
}

/** xAI's unit of cost, in US dollars. */
const TICK = 1e-10;

/** Returns the cost that a provider reports, in US dollars. */
export function readReportedCost(counts: ReportedCounts): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = counts;
  if (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0) return cost;
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0
    ? ticks * TICK
    : undefined;
}
