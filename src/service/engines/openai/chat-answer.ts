import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Usage } from '../engine.ts';
import { Answer } from '../provider/answer.ts';
import type { GivenPicture } from '../provider/pictures.ts';
import { ProviderFault, reasonOf } from '../provider/refusal.ts';

/** An answer that counts as this interface does: its last `usage` holds. */
export abstract class CountedAnswer extends Answer {
  #counted: unknown;

  override get tokens(): number | undefined {
    return tokensIn(this.#counted);
  }

  get usage(): Usage | undefined {
    return usageIn(this.#counted);
  }

  protected count(object: Record<string, unknown>): void {
    this.#counted = object['usage'] ?? this.#counted;
  }
}

/** The answer of a chat model. */
export class ChatAnswer extends CountedAnswer {
  #finishReason = '';
  #refusal = '';
  #error: string | undefined;

  add(object: Record<string, unknown>): string {
    this.count(object);
    const [choice] = Array.isArray(object['choices']) ? (object['choices'] as unknown[]) : [];
    if (!isJsonObject(choice)) return '';
    const { finish_reason: reason, message, delta, error } = choice;
    if (typeof reason === 'string') this.#finishReason = reason;
    if (error !== undefined && error !== null) this.#error = reasonOf(error) ?? 'it does not say which';
    const content = isJsonObject(message) ? message : delta;
    return isJsonObject(content) ? this.#addMessage(content) : '';
  }

  #addMessage(message: Record<string, unknown>): string {
    if (typeof message['refusal'] === 'string') this.#refusal += message['refusal'];
    this.thought ||= ['reasoning', 'reasoning_content', 'thinking'].some(key => Boolean(message[key]));
    this.tool ??= toolIn(message);
    const parts = partsOf(message['content']);
    this.thought ||= parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
    this.pictures.push(...[...parts, ...partsOf(message['images'])].flatMap(pictureIn));
    const text = parts.map(part => (typeof part['text'] === 'string' ? part['text'] : '')).join('');
    this.text += text;
    return text;
  }

  protected fault(): ProviderFault | undefined {
    if (this.#error !== undefined || this.#finishReason === 'error') {
      const reason = this.#error ?? 'it does not say which';
      return new ProviderFault(`ended its answer with an error: ${reason}`, { advice: 'run it again later' });
    }
    if (this.#refusal !== '') return this.refused(this.#refusal);
    if (/content_filter|safety|blocked/i.test(this.#finishReason)) {
      const what = `’s content filter withheld the answer or the rest of it (finish_reason ${this.#finishReason})`;
      return new ProviderFault(what, { advice: 'change the prompt or its inputs' });
    }
    const isCut = /^(?:length|max_tokens)$/i.test(this.#finishReason);
    return isCut ? this.cutOff('finish_reason length') : undefined;
  }
}

/** The parts of a content, which may be a text alone. */
function partsOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isJsonObject).map(part => (isText(part) ? part : { ...part, text: undefined }));
}

function isText({ type }: Record<string, unknown>): boolean {
  return type === 'text' || type === 'output_text';
}

/** Pictures come as `image_url` parts, whose URL may stand there itself or in an object. */
function pictureIn({ image_url: image, b64_json: base64 }: Record<string, unknown>): GivenPicture[] {
  const url = isJsonObject(image) ? image['url'] : image;
  if (typeof url === 'string') return [{ url }];
  return typeof base64 === 'string' ? [{ base64 }] : [];
}

function toolIn(message: Record<string, unknown>): string | undefined {
  const calls = message['tool_calls'];
  const [call] = Array.isArray(calls) ? (calls as unknown[]) : [message['function_call']];
  if (!isJsonObject(call)) return undefined;
  const described = isJsonObject(call['function']) ? call['function'] : call;
  const name = described['name'];
  return typeof name === 'string' && name !== '' ? name : 'it did not name';
}

/** Whether an event is the one after which an answer is whole. */
export function endsChat({ choices }: Record<string, unknown>): boolean {
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  return isJsonObject(choice) && typeof choice['finish_reason'] === 'string';
}

/** The tokens an endpoint says it used; undefined if it does not say. */
function tokensIn(usage: unknown): number | undefined {
  const total = countIn(usage, 'total_tokens');
  return total !== undefined && total >= 1 ? total : undefined;
}

/** What an endpoint says it used, by kind; `input_tokens` is what image models say. Undefined if it does not say. */
function usageIn(usage: unknown): Usage | undefined {
  const input = countIn(usage, 'prompt_tokens') ?? countIn(usage, 'input_tokens');
  const output = countIn(usage, 'completion_tokens') ?? countIn(usage, 'output_tokens');
  if (!isJsonObject(usage) || input === undefined || output === undefined) return undefined;
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const cached = countIn(details, 'cached_tokens') ?? countIn(usage, 'prompt_cache_hit_tokens') ?? 0;
  const cost = usage['cost'];
  const isCost = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
  return { input, output, cached: Math.min(cached, input), ...(isCost ? { dollars: cost } : {}) };
}

function countIn(counts: unknown, key: string): number | undefined {
  const count = isJsonObject(counts) ? counts[key] : undefined;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? Math.round(count) : undefined;
}
