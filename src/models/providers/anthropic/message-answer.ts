import { isJsonObject, listAt, textAt, valueAt } from '../../../wire/bounded-json.ts';
import type { Usage } from '../../engine.ts';
import { Answer, countAt } from '../answer.ts';
import { ProviderFault } from '../refusal.ts';

/** The answer of a model of Anthropic's. */
export class MessageAnswer extends Answer {
  #counts: Record<string, unknown> = {};
  #stopReason = '';
  #refusal: string | undefined;

  /** Tokens read from the cache or written to it count as input. */
  get usage(): Usage | undefined {
    const { input_tokens: input, output_tokens: output } = this.#counts;
    if (input === undefined || output === undefined) return undefined;
    const count = (key: string): number => countAt(this.#counts, key) ?? 0;
    const cached = count('cache_read_input_tokens');
    return {
      input: count('input_tokens') + cached + count('cache_creation_input_tokens'),
      output: count('output_tokens'),
      cached,
    };
  }

  add(object: unknown): string {
    switch (valueAt(object, 'type')) {
      case 'message':
        return this.#addMessage(object);
      case 'message_start':
        return this.#addMessage(valueAt(object, 'message'));
      case 'message_delta':
        this.#count(valueAt(object, 'usage'));
        this.#stop(valueAt(object, 'delta'));
        return '';
      case 'content_block_start':
        return this.#addBlock(valueAt(object, 'content_block'));
      case 'content_block_delta':
        return this.#addBlock(valueAt(object, 'delta'));
      default:
        return '';
    }
  }

  #addMessage(message: unknown): string {
    this.#count(valueAt(message, 'usage'));
    this.#stop(message);
    return listAt(message, 'content')
      .map(block => this.#addBlock(block))
      .join('');
  }

  /** A block of content, or a piece of one. */
  #addBlock(block: unknown): string {
    const type = textAt(block, 'type') ?? '';
    if (type === 'tool_use') this.tool = textAt(block, 'name') || 'it did not name';
    this.thought ||= type.includes('thinking');
    const text = type === 'text' || type === 'text_delta' ? (textAt(block, 'text') ?? '') : '';
    this.text += text;
    return text;
  }

  #stop(message: unknown): void {
    this.#stopReason = textAt(message, 'stop_reason') ?? this.#stopReason;
    this.#refusal = textAt(message, 'stop_details', 'explanation') ?? this.#refusal;
  }

  #count(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    const counts = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(counts) };
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
