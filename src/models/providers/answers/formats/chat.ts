import { withoutUndefined } from '../../../../files/formats/json.ts';
import { isJsonObject, listAt, textAt, valueAt } from '../../../../utils/bounded-json.ts';
import type { ProviderUsage } from '../../../engine.ts';
import type { PictureSource } from '../fetch-pictures.ts';
import { type AnswerFormat, countAt, type ModelAnswer, type ReportedCounts } from '../model-answer.ts';

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
    answer.addCounts(valueAt(object, 'usage') ?? valueAt(object, 'x_groq', 'usage'));
    answer.tier = textAt(object, 'service_tier') ?? answer.tier;
    for (const choice of listAt(object, 'choices')) readAnswerChoice(choice, answer);
  },
  usage: tokenUsage,
};

function readAnswerChoice(choice: unknown, answer: ModelAnswer): void {
  const index = countAt(choice, 'index') ?? 0;
  answer.addStopReason(textAt(choice, 'finish_reason'));
  answer.setError(valueAt(choice, 'error'));
  const message = valueAt(choice, 'message') ?? valueAt(choice, 'delta');
  answer.addRefusal(textAt(message, 'refusal'));
  const calls = [...listAt(message, 'tool_calls'), valueAt(message, 'function_call')].filter(isJsonObject);
  if (answer.keepsCalls && calls.length > 0) return answer.addText(callsText(message), index);
  for (const call of calls) {
    const named = valueAt(call, 'function') ?? call;
    answer.addToolCall(textAt(named, 'name'), textAt(named, 'arguments'), index);
  }
  const parts = contentParts(valueAt(message, 'content'));
  const isThought = parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
  answer.hasThought ||= isThought || THOUGHTS.some(key => Boolean(valueAt(message, key)));
  answer.pictures.push(...[...parts, ...contentParts(valueAt(message, 'images'))].flatMap(picturesIn));
  for (const part of parts.filter(isTextPart)) answer.addText(textAt(part, 'text'), index);
}

/** Returns the calls of a message as JSON, or the whole message if it also has text. */
function callsText(message: unknown): string {
  const hasText = Boolean(valueAt(message, 'content'));
  const calls = valueAt(message, 'function_call') ?? valueAt(message, 'tool_calls');
  return JSON.stringify(hasText ? message : calls);
}

/** Fields that hold a model's thinking. */
const THOUGHTS = ['reasoning', 'reasoning_content', 'thinking'];

/** Returns the parts of a content, which may be a plain text. */
function contentParts(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : listAt(content).filter(isJsonObject);
}

function isTextPart({ type }: Record<string, unknown>): boolean {
  return type === 'text' || type === 'output_text';
}

/** Returns the picture in a part. Its URL is the value of `image_url`, or in an object there. */
function picturesIn(part: unknown): PictureSource[] {
  const url = textAt(part, 'image_url', 'url') ?? textAt(part, 'image_url');
  const base64 = textAt(part, 'b64_json');
  if (url !== undefined) return [{ url }];
  return base64 === undefined ? [] : [{ base64 }];
}

/**
 * Returns the usage from the counts of OpenAI's interfaces and their imitations. Some leave thinking out of the completion
 * but include it in the total.
 */
export function tokenUsage(counts: ReportedCounts): ProviderUsage | undefined {
  const count = (...path: string[]): number | undefined => countAt(counts, ...path);
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
    dollars: dollarsIn(counts),
  });
}

/** xAI's unit of cost, in US dollars. */
const TICK = 1e-10;

/** Returns the cost that a provider reports, in US dollars. */
export function dollarsIn(counts: ReportedCounts): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = counts;
  if (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0) return cost;
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0 ? ticks * TICK : undefined;
}
