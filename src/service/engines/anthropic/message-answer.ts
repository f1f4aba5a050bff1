import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Usage } from '../engine.ts';
import { Answer } from '../provider/answer.ts';
import { ProviderFault } from '../provider/refusal.ts';

type Fields = Record<string, unknown>;

/** The answer of a model of Anthropic's. */
export class MessageAnswer extends Answer {
  #counts: Fields = {};
  #stopReason = '';
  #refusal: string | undefined;

  /** Tokens read from the cache or written to it count as input. */
  get usage(): Usage | undefined {
    const count = (key: string): number => {
      const value = this.#counts[key];
      return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : 0;
    };
    if (this.#counts['input_tokens'] === undefined || this.#counts['output_tokens'] === undefined) {
      return undefined;
    }
    const cached = count('cache_read_input_tokens');
    const input = count('input_tokens') + cached + count('cache_creation_input_tokens');
    return { input, output: count('output_tokens'), cached };
  }

  add(object: Fields): string {
    switch (object['type']) {
      case 'message':
        return this.#addMessage(object);
      case 'message_start':
        return isJsonObject(object['message']) ? this.#addMessage(object['message']) : '';
      case 'message_delta':
        this.#count(object['usage']);
        if (isJsonObject(object['delta'])) this.#stop(object['delta']);
        return '';
      case 'content_block_start':
        return this.#addBlock(object['content_block']);
      case 'content_block_delta':
        return this.#addBlock(object['delta']);
      default:
        return '';
    }
  }

  #addMessage(message: Fields): string {
    this.#count(message['usage']);
    this.#stop(message);
    const blocks = Array.isArray(message['content']) ? (message['content'] as unknown[]) : [];
    return blocks.map(block => this.#addBlock(block)).join('');
  }

  /** A block of content, or a piece of one. */
  #addBlock(block: unknown): string {
    if (!isJsonObject(block)) return '';
    const { type, text, name } = block;
    if (type === 'tool_use') this.tool = typeof name === 'string' && name !== '' ? name : 'it did not name';
    this.thought ||= typeof type === 'string' && type.includes('thinking');
    if ((type !== 'text' && type !== 'text_delta') || typeof text !== 'string') return '';
    this.text += text;
    return text;
  }

  #stop({ stop_reason: reason, stop_details: details }: Fields): void {
    if (typeof reason === 'string') this.#stopReason = reason;
    const explanation = isJsonObject(details) ? details['explanation'] : undefined;
    if (typeof explanation === 'string') this.#refusal = explanation;
  }

  #count(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    const told = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(told) };
  }

  protected fault(): ProviderFault | undefined {
    switch (this.#stopReason) {
      case 'refusal':
        return this.refused(this.#refusal);
      case 'max_tokens':
        return this.cutOff('stop_reason max_tokens');
      case 'model_context_window_exceeded':
        return new ProviderFault('’s answer was cut short: the model’s context is full', {
          advice: 'give it less, or a model with a larger context',
        });
      case 'pause_turn':
        return new ProviderFault('’s answer was cut short: the model paused its turn', {
          advice: 'run it again',
        });
      default:
        return undefined;
    }
  }
}
