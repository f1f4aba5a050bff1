import { valueAt } from '../../wire/bounded-json.ts';
import type { Usage } from '../engine.ts';
import type { PictureSource } from './pictures.ts';
import { ProviderFault } from './refusal.ts';

/** The answer of a model, gathered from one body or from the pieces of a stream. */
export abstract class Answer {
  text = '';
  readonly pictures: PictureSource[] = [];
  /** The tool that the model asked for. */
  protected tool: string | undefined;
  protected thought = false;

  /** As the provider counts; undefined if it does not. */
  abstract get usage(): Usage | undefined;

  /** As the provider counts, in all; undefined if it does not. */
  get tokens(): number | undefined {
    return this.usage && (this.usage.input + this.usage.output || undefined);
  }

  /** Takes in an answer or a piece of one; returns the text in it. Whatever has another form than is known says nothing. */
  abstract add(object: unknown): string;

  /** What the provider itself says is wrong with it. */
  protected abstract fault(): ProviderFault | undefined;

  /** @throws {ProviderFault} for an answer that is not one, or not whole; what had come stays */
  check(): void {
    const isEmpty = this.text === '' && this.pictures.length === 0;
    const fault = this.fault() ?? (isEmpty ? this.#emptyFault() : undefined);
    if (fault) throw fault;
  }

  #emptyFault(): ProviderFault {
    if (this.tool !== undefined) {
      const advice = 'prompts call no tools: ask for an answer in the prompt';
      return new ProviderFault(`’s model asked for the tool ${this.tool} instead of answering`, { advice });
    }
    if (this.thought) {
      return new ProviderFault('’s model thought, and then answered without a text', {
        advice: 'run it again',
      });
    }
    return new ProviderFault('answered without a text', { advice: 'run it again, or change the prompt' });
  }

  protected refused(why: string | undefined): ProviderFault {
    const what = why === undefined ? '’s model refused' : `’s model refused: ${why}`;
    return new ProviderFault(what, { advice: 'change the prompt or its inputs' });
  }

  /** @param reason the provider's own words for it */
  protected cutOff(reason: string): ProviderFault {
    if (this.thought && this.text.trim() === '') {
      return new ProviderFault(
        `’s model spent its whole limit of tokens on thinking, and none was left for an answer (${reason})`,
        { advice: 'raise maxOutputTokens, or lower reasoningEffort' },
      );
    }
    return new ProviderFault(`cut the answer short at its limit of tokens (${reason})`, {
      advice: 'raise maxOutputTokens, or ask for a shorter answer',
    });
  }
}

/** A whole number of at least 0 at a path in what a provider counts; undefined if there is none. */
export function countAt(counts: unknown, ...path: readonly string[]): number | undefined {
  const count = valueAt(counts, ...path);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? Math.round(count) : undefined;
}
