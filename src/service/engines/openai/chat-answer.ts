import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Usage } from '../engine.ts';
import { ProviderFault, reasonOf } from '../provider/refusal.ts';

/** The answer of a chat model, gathered from one body or from the pieces of a stream. */
export class ChatAnswer {
  text = '';
  /** URLs, `data:` ones included. */
  readonly pictures: string[] = [];
  #counted: unknown;
  #finishReason = '';
  #refusal = '';
  #tool: string | undefined;
  #thought = false;
  #error: string | undefined;

  /** As the server counts, in all; undefined if it does not. */
  get tokens(): number | undefined {
    return tokensIn(this.#counted);
  }

  /** As the server counts; undefined if it does not. */
  get usage(): Usage | undefined {
    return usageIn(this.#counted);
  }

  /** Takes in an answer or a piece of one; returns the text in it. Whatever has another form than is known says nothing. */
  add(object: Record<string, unknown>): string {
    this.#counted = object['usage'] ?? this.#counted;
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
    this.#thought ||= ['reasoning', 'reasoning_content', 'thinking'].some(key => Boolean(message[key]));
    this.#tool ??= toolIn(message);
    const parts = partsOf(message['content']);
    this.#thought ||= parts.some(({ type }) => type === 'thinking' || type === 'reasoning');
    this.pictures.push(...[...parts, ...partsOf(message['images'])].flatMap(pictureUrl));
    const text = parts.map(part => (typeof part['text'] === 'string' ? part['text'] : '')).join('');
    this.text += text;
    return text;
  }

  /** @throws {ProviderFault} for an answer that is not one, or not whole; what had come stays */
  check(): void {
    const fault = this.#fault();
    if (fault) throw new ProviderFault(fault.what, { advice: fault.advice });
  }

  #fault(): { what: string; advice: string } | undefined {
    if (this.#error !== undefined || this.#finishReason === 'error') {
      const reason = this.#error ?? 'it does not say which';
      return { what: `ended its answer with an error: ${reason}`, advice: 'run it again later' };
    }
    if (this.#refusal !== '') {
      return { what: `’s model refused: ${this.#refusal}`, advice: 'change the prompt or its inputs' };
    }
    if (/content_filter|safety|blocked/i.test(this.#finishReason)) {
      return {
        what: `’s content filter withheld the answer or the rest of it (finish_reason ${this.#finishReason})`,
        advice: 'change the prompt or its inputs',
      };
    }
    if (/^(?:length|max_tokens)$/i.test(this.#finishReason)) return this.#cutOff();
    if (this.#tool !== undefined && this.text === '') {
      return {
        what: `’s model asked for the tool ${this.#tool} instead of answering`,
        advice: 'prompts call no tools: ask for an answer in the prompt',
      };
    }
    return this.text === '' && this.pictures.length === 0 ? this.#empty() : undefined;
  }

  #cutOff(): { what: string; advice: string } {
    if (this.#thought && this.text.trim() === '') {
      return {
        what: '’s model spent its whole limit of tokens on thinking, and none was left for an answer (finish_reason length)',
        advice: 'raise maxOutputTokens, or lower reasoningEffort',
      };
    }
    return {
      what: 'cut the answer off at its limit of tokens (finish_reason length)',
      advice: 'raise maxOutputTokens, or ask for a shorter answer',
    };
  }

  #empty(): { what: string; advice: string } {
    if (this.#thought) {
      return { what: '’s model thought, and then answered without a text', advice: 'run it again' };
    }
    return { what: 'answered without a text', advice: 'run it again, or change the prompt' };
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
function pictureUrl(part: Record<string, unknown>): string[] {
  const { image_url: given, b64_json: base64 } = part;
  const url = isJsonObject(given) ? given['url'] : given;
  if (typeof url === 'string') return [url];
  return typeof base64 === 'string' ? [`data:;base64,${base64}`] : [];
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
export function tokensIn(usage: unknown): number | undefined {
  const total = countIn(usage, 'total_tokens');
  return total !== undefined && total >= 1 ? total : undefined;
}

/** What an endpoint says it used, by kind; `input_tokens` is what image models say. Undefined if it does not say. */
export function usageIn(usage: unknown): Usage | undefined {
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
