import { isJsonObject, listAt, textAt, valueAt } from '../../../wire/bounded-json.ts';
import type { Usage } from '../../engine.ts';
import { Answer, countAt } from '../answer.ts';
import type { PictureSource } from '../pictures.ts';
import { ProviderFault, reasonOf } from '../refusal.ts';

/** An answer that counts as this interface does: its last `usage` holds. */
abstract class CountedAnswer extends Answer {
  #usage: unknown;

  override get tokens(): number | undefined {
    return countAt(this.#usage, 'total_tokens') || undefined;
  }

  /** `input_tokens` and `output_tokens` are what image models say. */
  get usage(): Usage | undefined {
    const count = (...path: string[]): number | undefined => countAt(this.#usage, ...path);
    const input = count('prompt_tokens') ?? count('input_tokens');
    const output = count('completion_tokens') ?? count('output_tokens');
    if (input === undefined || output === undefined) return undefined;
    const cached =
      count('prompt_tokens_details', 'cached_tokens') ??
      count('input_tokens_details', 'cached_tokens') ??
      count('prompt_cache_hit_tokens') ??
      0;
    const cost = valueAt(this.#usage, 'cost');
    const isCost = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
    return { input, output, cached: Math.min(cached, input), ...(isCost && { dollars: cost }) };
  }

  protected count(object: unknown): void {
    this.#usage = valueAt(object, 'usage') ?? this.#usage;
  }
}

/** The pictures of an image model. */
export class DrawnAnswer extends CountedAnswer {
  add(object: unknown): string {
    this.count(object);
    const pictures = listAt(object, 'data').map(item => {
      return { base64: textAt(item, 'b64_json') || undefined, url: textAt(item, 'url') };
    });
    this.pictures.push(...pictures);
    return '';
  }

  protected fault(): ProviderFault | undefined {
    if (this.pictures.length > 0) return undefined;
    return new ProviderFault('answered without a picture', { advice: 'is it an image model?' });
  }
}

/** The answer of a chat model. */
export class ChatAnswer extends CountedAnswer {
  #finishReason = '';
  #refusal = '';
  #error: string | undefined;

  add(object: unknown): string {
    this.count(object);
    const choice = valueAt(object, 'choices', 0);
    this.#finishReason = textAt(choice, 'finish_reason') ?? this.#finishReason;
    const error = valueAt(choice, 'error') ?? undefined;
    if (error !== undefined) this.#error = reasonOf(error) ?? 'it does not say which';
    return this.#addMessage(valueAt(choice, 'message') ?? valueAt(choice, 'delta'));
  }

  #addMessage(message: unknown): string {
    this.#refusal += textAt(message, 'refusal') ?? '';
    this.tool ??= toolIn(message);
    const parts = contentParts(valueAt(message, 'content'));
    const isThought = parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
    this.thought ||= isThought || THOUGHTS.some(key => Boolean(valueAt(message, key)));
    this.pictures.push(...[...parts, ...contentParts(valueAt(message, 'images'))].flatMap(pictureIn));
    const text = parts
      .filter(isText)
      .map(part => textAt(part, 'text') ?? '')
      .join('');
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

/** Where servers put what a model thought. */
const THOUGHTS = ['reasoning', 'reasoning_content', 'thinking'];

/** The parts of a content, which may be a text alone. */
function contentParts(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : listAt(content).filter(isJsonObject);
}

function isText({ type }: Record<string, unknown>): boolean {
  return type === 'text' || type === 'output_text';
}

/** Pictures come as `image_url` parts, whose URL may stand there itself or in an object. */
function pictureIn(part: unknown): PictureSource[] {
  const url = textAt(part, 'image_url', 'url') ?? textAt(part, 'image_url');
  const base64 = textAt(part, 'b64_json');
  if (url !== undefined) return [{ url }];
  return base64 === undefined ? [] : [{ base64 }];
}

function toolIn(message: unknown): string | undefined {
  const call = valueAt(message, 'tool_calls', 0) ?? valueAt(message, 'function_call');
  if (!isJsonObject(call)) return undefined;
  return textAt(call, 'function', 'name') || textAt(call, 'name') || 'it did not name';
}

/** Whether an event is the one after which an answer is whole. */
export function endsChat(event: unknown): boolean {
  return textAt(event, 'choices', 0, 'finish_reason') !== undefined;
}
