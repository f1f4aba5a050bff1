import { withoutUndefined } from '../../../files/formats/json.ts';
import { readValueAt } from '../../../utils/bounded-json.ts';
import { CUT_SHORT_WORDS } from '../../../wire/error-words.ts';
import { MAX_TEXT_MIB, type ProviderUsage } from '../../engine.ts';
import { findReason } from './error-body.ts';
import type { AnswerImage } from './fetch-answer-images.ts';
import { ProviderFault } from './provider-fault.ts';

/** The meaning of a provider's stop reason; `whole` for a complete answer. */
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

/** A reader of the answers of one interface, at any provider. */
export interface AnswerFormat {
  /** An answer without content. */
  readonly emptyAnswer: object;
  /** Stop reasons in lower case, with their meanings. */
  readonly stopMeanings: Readonly<Record<string, StopMeaning>>;
  /** Adds an answer, or an event of one, to `answer`. Ignores everything in an unknown format. */
  read(object: unknown, answer: ModelAnswer): void;
  /** Returns the usage; undefined if the counts hold no tokens. */
  readUsage(counts: ReportedCounts): ProviderUsage | undefined;
}

export type ReportedCounts = Readonly<Record<string, unknown>>;

/** The fault that a stop reason stands for. */
interface StopFault {
  /** The fault, as in `ProviderFault`, without the stop reason. */
  readonly message: string;
  readonly advice: string;
}

/** The faults that stop reasons stand for, by meaning. */
const STOP_FAULTS: Readonly<Partial<Record<StopMeaning, StopFault>>> = {
  length: {
    message: CUT_SHORT_WORDS,
    advice: 'raise maxOutputTokens, or ask for a shorter answer',
  },
  context: {
    message: "'s answer was cut short: the model's context is full",
    advice: 'shorten the prompt, or use a model with a larger context',
  },
  paused: { message: "'s answer was cut short: the model paused its turn", advice: 'run it again' },
  resources: {
    message: "'s answer was cut short: its servers had no capacity left",
    advice: 'run it again later',
  },
  filter: {
    message: "'s content filter withheld the answer or the rest of it",
    advice: 'change the prompt or its inputs',
  },
  broken: { message: 'ended its answer before it was complete', advice: 'run it again' },
};

/** The fault of an answer that was cut short before its first word. */
const THOUGHT_ONLY_FAULT: StopFault = {
  message: "'s model used its whole token limit for thinking, and left none for the answer",
  advice: 'raise maxOutputTokens, or lower reasoningEffort',
};

/** A model's answer, collected from one body or from the events of a stream. */
export class ModelAnswer {
  /** One text for each requested answer. */
  readonly texts: string[] = [];
  readonly images: AnswerImage[] = [];
  /** True once the stream's final event has arrived. */
  isEnded = false;
  /** The name of the first tool that the model called. */
  calledToolName: string | undefined;
  /** True if the model sent thinking. */
  hasThought = false;
  /** The id of an image that the provider is still drawing. */
  drawingTaskId: string | undefined;
  /** The price class that the provider says it used. */
  tier: string | undefined;
  readonly #format: AnswerFormat;
  /** True if calls of the prompt's own tools are the answer, as JSON. */
  readonly keepsToolCalls: boolean;
  readonly #hasJsonTool: boolean;
  readonly #expectsImage: boolean;
  readonly #stopReasons = new Set<string>();
  /** The text that the current call of `add` adds to the first answer. */
  #addedText = '';
  #textBytes = 0;
  #refusal = '';
  #error: string | undefined;
  #counts: ReportedCounts = {};

  /**
   * @param hasJsonTool true if the model had to answer by calling a tool
   * @param keepsToolCalls true if the prompt has its own tools, whose calls are the answer
   * @param expectsImage true if the model was asked for an image
   */
  constructor(
    format: AnswerFormat,
    {
      hasJsonTool = false,
      keepsToolCalls = false,
      expectsImage = false,
    }: { hasJsonTool?: boolean; keepsToolCalls?: boolean; expectsImage?: boolean } = {},
  ) {
    this.#format = format;
    this.#hasJsonTool = hasJsonTool;
    this.keepsToolCalls = keepsToolCalls && !hasJsonTool;
    this.#expectsImage = expectsImage;
  }

  /**
   * Adds an answer or an event of one; returns what it adds to the first text.
   *
   * @throws {ProviderFault} for more text than an answer may have, which is left out
   */
  add(object: unknown): string {
    this.#addedText = '';
    this.#format.read(object, this);
    return this.#addedText;
  }

  /** Adds text to the answer with this index. */
  addText(text: string | undefined, index = 0): void {
    if (text === undefined || text === '') return;
    this.#countText(text);
    while (this.texts.length < index) this.texts.push('');
    this.texts[index] = (this.texts[index] ?? '') + text;
    if (index === 0) this.#addedText += text;
  }

  /** Adds a tool call, or a piece of its input as JSON. */
  addToolCall(name: string | undefined, input: string | undefined, index = 0): void {
    if (this.#hasJsonTool) {
      this.addText(input, index);
    } else {
      this.calledToolName ??= name || '(unnamed)';
    }
  }

  addStopReason(reason: string | undefined): void {
    if (reason !== undefined && reason !== '') this.#stopReasons.add(reason);
  }

  /** Ends the answer at a stream's end mark, which counts only after a stop reason. */
  endStream(): void {
    this.isEnded ||= this.#stopReasons.size > 0;
  }

  addRefusal(reason: string | undefined): void {
    this.#countText(reason ?? '');
    this.#refusal += reason ?? '';
  }

  /**
   * Adds an error in the provider's own format, of which the first counts. Ignores null and
   * undefined.
   */
  addError(error: unknown): void {
    if (error === undefined || error === null) return;
    this.#error ??= findReason(error) ?? 'it gave no reason';
  }

  addCounts(counts: unknown): void {
    if (typeof counts !== 'object' || counts === null) return;
    const reportedCounts = Object.entries(counts).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(reportedCounts) };
  }

  /** The fault of an answer that ended with an error; undefined if it had none. */
  get errorFault(): ProviderFault | undefined {
    if (this.#error === undefined) return undefined;
    return createPaidFault(`ended its answer with an error: ${this.#error}`, 'run it again later');
  }

  get text(): string {
    return this.texts.join('');
  }

  get usage(): ProviderUsage | undefined {
    const usage = this.#format.readUsage(this.#counts);
    return usage && withoutUndefined({ ...usage, tier: this.tier });
  }

  /** Total tokens by the provider's count; undefined if it sent none. */
  get tokens(): number | undefined {
    const { usage } = this;
    const total = readCountAt(this.#counts, 'total_tokens') ?? 0;
    if (total > 0) return total;

    const sum = usage === undefined ? 0 : usage.input + usage.output;
    return sum > 0 ? sum : undefined;
  }

  /** Stop reasons that are not in the table. */
  get unknownStopReasons(): readonly string[] {
    return [...this.#stopReasons].filter(reason => this.#findMeaning(reason) === undefined);
  }

  /** @throws {ProviderFault} if the answer is empty, refused or cut short */
  assertUsable(): void {
    const isEmpty = this.text === '' && this.images.length === 0;
    const fault = this.#findStopFault() ?? (isEmpty ? this.#createEmptyFault() : undefined);
    if (fault) throw fault;
  }

  #countText(text: string): void {
    this.#textBytes += Buffer.byteLength(text);
    if (this.#textBytes <= MAX_TEXT_MIB * 1024 * 1024) return;
    throw createPaidFault(
      `returned more than ${MAX_TEXT_MIB} MiB of text`,
      'ask for a shorter answer',
    );
  }

  #findMeaning(reason: string): StopMeaning | undefined {
    const name = reason.toLowerCase();
    return (
      this.#format.stopMeanings[name] ??
      (/content_?filter|safety|blocked|prohibited/.test(name) ? 'filter' : undefined)
    );
  }

  #findStopFault(): ProviderFault | undefined {
    if (this.errorFault) return this.errorFault;

    const reasons = [...this.#stopReasons];
    const reason =
      reasons.find(candidate => (this.#findMeaning(candidate) ?? 'whole') !== 'whole') ?? '';
    const meaning = this.#findMeaning(reason) ?? 'whole';
    if (meaning === 'error') {
      return createPaidFault(
        'ended its answer with an error: it gave no reason',
        'run it again later',
      );
    }

    if (this.#refusal !== '' || meaning === 'refusal') {
      const explanation = this.#refusal === '' ? '' : `: ${this.#refusal}`;
      return createPaidFault(`'s model refused${explanation}`, 'change the prompt or its inputs');
    }

    const isAllThought = meaning === 'length' && this.hasThought && this.text.trim() === '';
    const fault = isAllThought ? THOUGHT_ONLY_FAULT : STOP_FAULTS[meaning];
    return fault && createPaidFault(`${fault.message} (${reason})`, fault.advice);
  }

  #createEmptyFault(): ProviderFault {
    if (this.calledToolName !== undefined) {
      const advice = 'prompts call no tools: ask for an answer in the prompt';
      return createPaidFault(
        `'s model asked for the tool ${this.calledToolName} instead of answering`,
        advice,
      );
    }

    if (this.hasThought) {
      return createPaidFault("'s model thought, but then answered without text", 'run it again');
    }

    if (this.#expectsImage) {
      return createPaidFault('answered without a picture', 'is it an image model?');
    }

    return createPaidFault('answered without text', 'run it again, or change the prompt');
  }
}

/** Returns the fault of an answer, which may have been paid for. */
function createPaidFault(message: string, advice: string): ProviderFault {
  return new ProviderFault(message, { advice, mayHaveCost: true });
}

/** Returns the count at a path, rounded; undefined if there is none or it is negative. */
export function readCountAt(counts: unknown, ...path: readonly string[]): number | undefined {
  const count = readValueAt(counts, ...path);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0
    ? Math.round(count)
    : undefined;
}

/** Returns the usage of a provider that does not count cached tokens as input. */
export function includeCachedTokens({
  input,
  output,
  cached,
  cacheWritten,
}: Pick<ProviderUsage, 'input' | 'output' | 'cached'> & {
  readonly cacheWritten: number | undefined;
}): ProviderUsage {
  const allInput = input + cached + (cacheWritten ?? 0);
  return withoutUndefined({ input: allInput, output, cached, cacheWritten });
}
