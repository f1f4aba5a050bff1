import { valueAt } from '../../wire/bounded-json.ts';
import type { Usage } from '../engine.ts';
import type { PictureSource } from './pictures.ts';
import { ProviderFault } from './refusal.ts';

/** What a reason to stop means for an answer. */
export type Stop =
  | 'whole'
  | 'length'
  | 'context'
  | 'paused'
  | 'resources'
  | 'filter'
  | 'refusal'
  | 'error'
  | 'broken';

/** How the answers of one interface are read, whoever's they are. */
export interface Form {
  /** An answer without content, as the interface has it. */
  readonly empty: object;
  /** What its reasons to stop mean, in lower case. */
  readonly stops: Readonly<Record<string, Stop>>;
  /** Takes in an answer, or an event of one. What has another form than is known says nothing. */
  read(object: unknown, answer: Answer): void;
  /** What its counts come to; undefined if they don't count tokens. */
  usage(counts: Counts): Usage | undefined;
}

export type Counts = Readonly<Record<string, unknown>>;

/** The answer of a model, gathered from one body or from the events of a stream. */
export class Answer {
  /** One for each answer that was asked for. */
  readonly texts: string[] = [];
  readonly pictures: PictureSource[] = [];
  /** True once the event came that a whole stream ends with. */
  ended = false;
  /** The tool that the model asked for. */
  tool: string | undefined;
  thought = false;
  /** The id of a picture that is still being drawn. */
  task: string | undefined;
  /** The price class that the provider says it used. */
  tier: string | undefined;
  readonly #form: Form;
  readonly #hasJsonTool: boolean;
  readonly #draws: boolean;
  readonly #reasons = new Set<string>();
  #added = '';
  #refusal = '';
  #error: string | undefined;
  #counts: Counts = {};

  /**
   * @param hasJsonTool true if the model had to answer by calling a tool
   * @param draws true if the model was asked for a picture
   */
  constructor(
    form: Form,
    { hasJsonTool = false, draws = false }: { hasJsonTool?: boolean; draws?: boolean } = {},
  ) {
    this.#form = form;
    this.#hasJsonTool = hasJsonTool;
    this.#draws = draws;
  }

  /** Takes in an answer or an event of one; returns what it adds to the first text. */
  add(object: unknown): string {
    this.#added = '';
    this.#form.read(object, this);
    return this.#added;
  }

  say(text: string | undefined, index = 0): void {
    if (text === undefined || text === '') return;
    while (this.texts.length < index) this.texts.push('');
    this.texts[index] = (this.texts[index] ?? '') + text;
    if (index === 0) this.#added += text;
  }

  /** Takes in a call of a tool, or a piece of its input as JSON. */
  call(name: string | undefined, input: string | undefined, index = 0): void {
    if (this.#hasJsonTool) this.say(input, index);
    else this.tool ??= name || 'it did not name';
  }

  stop(reason: string | undefined): void {
    if (reason !== undefined && reason !== '') this.#reasons.add(reason);
  }

  /** Takes in the mark that ends a stream: it means something only behind a reason. */
  finish(): void {
    this.ended ||= this.#reasons.size > 0;
  }

  refuse(why: string | undefined): void {
    this.#refusal += why ?? '';
  }

  fail(why: string): void {
    this.#error ??= why;
  }

  count(counts: unknown): void {
    if (typeof counts !== 'object' || counts === null) return;
    const known = Object.entries(counts).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(known) };
  }

  /** The error that the provider ended its answer with. */
  get failure(): ProviderFault | undefined {
    if (this.#error === undefined) return undefined;
    return fault(`ended its answer with an error: ${this.#error}`, 'run it again later');
  }

  get text(): string {
    return this.texts.join('');
  }

  get usage(): Usage | undefined {
    const usage = this.#form.usage(this.#counts);
    return usage && { ...usage, ...(this.tier !== undefined && { tier: this.tier }) };
  }

  /** As the provider counts, in all; undefined if it does not. */
  get tokens(): number | undefined {
    const { usage } = this;
    return countAt(this.#counts, 'total_tokens') || (usage && (usage.input + usage.output || undefined));
  }

  /** Reasons to stop that nobody knows. */
  get unknownReasons(): readonly string[] {
    return [...this.#reasons].filter(reason => this.#meaning(reason) === undefined);
  }

  /** @throws {ProviderFault} for an answer that is not one, or not whole; what had come stays */
  check(): void {
    const isEmpty = this.text === '' && this.pictures.length === 0;
    const fault = this.#fault() ?? (isEmpty ? this.#emptyFault() : undefined);
    if (fault) throw fault;
  }

  #meaning(reason: string): Stop | undefined {
    const name = reason.toLowerCase();
    return (
      this.#form.stops[name] ??
      (/content_?filter|safety|blocked|prohibited/.test(name) ? 'filter' : undefined)
    );
  }

  #fault(): ProviderFault | undefined {
    const reason = [...this.#reasons].find(one => (this.#meaning(one) ?? 'whole') !== 'whole') ?? '';
    const meaning = this.#meaning(reason);
    if (this.failure) return this.failure;
    if (meaning === 'error') {
      return fault('ended its answer with an error: it does not say which', 'run it again later');
    }
    if (this.#refusal !== '' || meaning === 'refusal') {
      const what = this.#refusal === '' ? "'s model refused" : `'s model refused: ${this.#refusal}`;
      return fault(what, 'change the prompt or its inputs');
    }
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are no faults, or dealt with above
    switch (meaning) {
      case 'length':
        return this.#cutOff(reason);
      case 'context':
        return fault(
          `'s answer was cut short: the model's context is full (${reason})`,
          'give it less, or a model with a larger context',
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
        return fault(`broke its answer off before it was whole (${reason})`, 'run it again');
      default:
        return undefined;
    }
  }

  #cutOff(reason: string): ProviderFault {
    if (this.thought && this.text.trim() === '') {
      return fault(
        `'s model spent its whole limit of tokens on thinking, and none was left for an answer (${reason})`,
        'raise maxOutputTokens, or lower reasoningEffort',
      );
    }
    return fault(
      `cut the answer short at its limit of tokens (${reason})`,
      'raise maxOutputTokens, or ask for a shorter answer',
    );
  }

  #emptyFault(): ProviderFault {
    if (this.tool !== undefined) {
      const advice = 'prompts call no tools: ask for an answer in the prompt';
      return fault(`'s model asked for the tool ${this.tool} instead of answering`, advice);
    }
    if (this.thought) return fault("'s model thought, and then answered without a text", 'run it again');
    if (this.#draws) return fault('answered without a picture', 'is it an image model?');
    return fault('answered without a text', 'run it again, or change the prompt');
  }
}

function fault(what: string, advice: string): ProviderFault {
  return new ProviderFault(what, { advice, mayHaveCost: true });
}

/** A whole number of at least 0 at a path in what a provider counts; undefined if there is none. */
export function countAt(counts: unknown, ...path: readonly string[]): number | undefined {
  const count = valueAt(counts, ...path);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? Math.round(count) : undefined;
}

/** Returns the usage of a provider that counts what its cache had, or took, apart from the other input. */
export function usageBesideCache({
  input,
  output,
  cached,
  cacheWritten,
}: Pick<Usage, 'input' | 'output' | 'cached'> & { readonly cacheWritten: number | undefined }): Usage {
  const all = input + cached + (cacheWritten ?? 0);
  return { input: all, output, cached, ...(cacheWritten !== undefined && { cacheWritten }) };
}
