import { withoutUndefined } from '../../../files/formats/json.ts';
import { valueAt } from '../../../utils/bounded-json.ts';
import { CUT_SHORT } from '../../../wire/error-words.ts';
import { MAX_TEXT_MIB, type ProviderUsage } from '../../engine.ts';
import { reasonInBody } from './error-body.ts';
import type { PictureSource } from './fetch-pictures.ts';
import { ProviderFault } from './provider-fault.ts';

export type StopMeaning =
  | 'whole'
  | 'length'
  | 'context'
  | 'paused'
  | 'resources'
  | 'filter'
  | 'refusal'
  | 'error'
  | 'broken';

/** A reader for the answers of one interface, at any provider. */
export interface AnswerFormat {
  /** An answer without content. */
  readonly empty: object;
  /** Stop reasons in lower case, with their meanings. */
  readonly stops: Readonly<Record<string, StopMeaning>>;
  /** Adds an answer, or an event of one, to `answer`. Ignores everything in an unknown format. */
  read(object: unknown, answer: ModelAnswer): void;
  /** Returns the usage; undefined if the counts hold no tokens. */
  usage(counts: ReportedCounts): ProviderUsage | undefined;
}

export type ReportedCounts = Readonly<Record<string, unknown>>;

/** A model's answer, collected from one body or from the events of a stream. */
export class ModelAnswer {
  /** One text for each requested answer. */
  readonly texts: string[] = [];
  readonly pictures: PictureSource[] = [];
  /** True once the stream's final event has arrived. */
  ended = false;
  tool: string | undefined;
  /** True if the model sent thinking. */
  thought = false;
  /** The id of a picture that the provider is still drawing. */
  task: string | undefined;
  /** The price class that the provider says it used. */
  tier: string | undefined;
  readonly #form: AnswerFormat;
  /** True if calls of the prompt's own tools are the answer, as JSON. */
  readonly keepsCalls: boolean;
  readonly #hasJsonTool: boolean;
  readonly #draws: boolean;
  readonly #reasons = new Set<string>();
  #added = '';
  #textBytes = 0;
  #refusal = '';
  #error: string | undefined;
  #counts: ReportedCounts = {};

  /**
   * @param hasJsonTool true if the model had to answer by calling a tool
   * @param keepsCalls true if the prompt has its own tools, whose calls are the answer
   * @param draws true if the model was asked for a picture
   */
  constructor(
    form: AnswerFormat,
    {
      hasJsonTool = false,
      keepsCalls = false,
      draws = false,
    }: { hasJsonTool?: boolean; keepsCalls?: boolean; draws?: boolean } = {},
  ) {
    this.#form = form;
    this.#hasJsonTool = hasJsonTool;
    this.keepsCalls = keepsCalls && !hasJsonTool;
    this.#draws = draws;
  }

  /**
   * Adds an answer or an event of one; returns what it adds to the first text.
   *
   * @throws {ProviderFault} for more text than an answer may have, which is left out
   */
  add(object: unknown): string {
    this.#added = '';
    this.#form.read(object, this);
    return this.#added;
  }

  /** Adds text to the answer with this index. */
  addText(text: string | undefined, index = 0): void {
    if (text === undefined || text === '') return;
    this.#countText(text);
    while (this.texts.length < index) this.texts.push('');
    this.texts[index] = (this.texts[index] ?? '') + text;
    if (index === 0) this.#added += text;
  }

  /** Adds a tool call, or a piece of its input as JSON. */
  addToolCall(name: string | undefined, input: string | undefined, index = 0): void {
    if (this.#hasJsonTool) this.addText(input, index);
    else this.tool ??= name || '(unnamed)';
  }

  addStopReason(reason: string | undefined): void {
    if (reason !== undefined && reason !== '') this.#reasons.add(reason);
  }

  /** Adds the mark at the end of a stream, which counts only after a stop reason. */
  finish(): void {
    this.ended ||= this.#reasons.size > 0;
  }

  addRefusal(why: string | undefined): void {
    this.#countText(why ?? '');
    this.#refusal += why ?? '';
  }

  /** Keeps the first error of an answer, in the provider's own format; ignores null and undefined. */
  setError(error: unknown): void {
    if (error === undefined || error === null) return;
    this.#error ??= reasonInBody(error) ?? 'it gave no reason';
  }

  addCounts(counts: unknown): void {
    if (typeof counts !== 'object' || counts === null) return;
    const known = Object.entries(counts).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(known) };
  }

  /** The error at the end of the answer. */
  get failure(): ProviderFault | undefined {
    if (this.#error === undefined) return undefined;
    return fault(`ended its answer with an error: ${this.#error}`, 'run it again later');
  }

  get text(): string {
    return this.texts.join('');
  }

  get usage(): ProviderUsage | undefined {
    const usage = this.#form.usage(this.#counts);
    return usage && withoutUndefined({ ...usage, tier: this.tier });
  }

  /** Total tokens by the provider's count; undefined if it sent none. */
  get tokens(): number | undefined {
    const { usage } = this;
    return countAt(this.#counts, 'total_tokens') || (usage && (usage.input + usage.output || undefined));
  }

  /** Stop reasons that are not in the table. */
  get unknownReasons(): readonly string[] {
    return [...this.#reasons].filter(reason => this.#meaning(reason) === undefined);
  }

  /** @throws {ProviderFault} if the answer is empty, refused or cut short */
  check(): void {
    const isEmpty = this.text === '' && this.pictures.length === 0;
    const fault = this.#fault() ?? (isEmpty ? this.#emptyFault() : undefined);
    if (fault) throw fault;
  }

  #countText(text: string): void {
    this.#textBytes += Buffer.byteLength(text);
    if (this.#textBytes <= MAX_TEXT_MIB * 1024 * 1024) return;
    throw fault(`returned more than ${MAX_TEXT_MIB} MiB of text`, 'ask for a shorter answer');
  }

  #meaning(reason: string): StopMeaning | undefined {
    const name = reason.toLowerCase();
    return (
      this.#form.stops[name] ??
      (/content_?filter|safety|blocked|prohibited/.test(name) ? 'filter' : undefined)
    );
  }

  #fault(): ProviderFault | undefined {
    const reason =
      [...this.#reasons].find(candidate => (this.#meaning(candidate) ?? 'whole') !== 'whole') ?? '';
    const meaning = this.#meaning(reason);
    if (this.failure) return this.failure;
    if (meaning === 'error') {
      return fault('ended its answer with an error: it gave no reason', 'run it again later');
    }
    if (this.#refusal !== '' || meaning === 'refusal') {
      const what = this.#refusal === '' ? "'s model refused" : `'s model refused: ${this.#refusal}`;
      return fault(what, 'change the prompt or its inputs');
    }
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are handled above, or are not faults
    switch (meaning) {
      case 'length':
        return this.#cutOff(reason);
      case 'context':
        return fault(
          `'s answer was cut short: the model's context is full (${reason})`,
          'shorten the prompt, or use a model with a larger context',
        );
      case 'paused':
        return fault(`'s answer was cut short: the model paused its turn (${reason})`, 'run it again');
      case 'resources':
        return fault(
          `'s answer was cut short: its servers had no capacity left (${reason})`,
          'run it again later',
        );
      case 'filter':
        return fault(
          `'s content filter withheld the answer or the rest of it (${reason})`,
          'change the prompt or its inputs',
        );
      case 'broken':
        return fault(`ended its answer before it was complete (${reason})`, 'run it again');
      default:
        return undefined;
    }
  }

  #cutOff(reason: string): ProviderFault {
    if (this.thought && this.text.trim() === '') {
      return fault(
        `'s model used its whole token limit for thinking, and left none for the answer (${reason})`,
        'raise maxOutputTokens, or lower reasoningEffort',
      );
    }
    return fault(`${CUT_SHORT} (${reason})`, 'raise maxOutputTokens, or ask for a shorter answer');
  }

  #emptyFault(): ProviderFault {
    if (this.tool !== undefined) {
      const advice = 'prompts call no tools: ask for an answer in the prompt';
      return fault(`'s model asked for the tool ${this.tool} instead of answering`, advice);
    }
    if (this.thought) return fault("'s model thought, but then answered without text", 'run it again');
    if (this.#draws) return fault('answered without a picture', 'is it an image model?');
    return fault('answered without text', 'run it again, or change the prompt');
  }
}

function fault(what: string, advice: string): ProviderFault {
  return new ProviderFault(what, { advice, mayHaveCost: true });
}

/** Returns the count at a path, rounded; undefined if there is none or it is negative. */
export function countAt(counts: unknown, ...path: readonly string[]): number | undefined {
  const count = valueAt(counts, ...path);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? Math.round(count) : undefined;
}

/** Returns the usage of a provider that does not count cached tokens as input. */
export function usageBesideCache({
  input,
  output,
  cached,
  cacheWritten,
}: Pick<ProviderUsage, 'input' | 'output' | 'cached'> & {
  readonly cacheWritten: number | undefined;
}): ProviderUsage {
  const all = input + cached + (cacheWritten ?? 0);
  return withoutUndefined({ input: all, output, cached, cacheWritten });
}
