import type { Check } from '../prompter.ts';
import type { QuestionTheme } from './theme.ts';

/** How a question for a text is put. */
export interface TextConfig {
  readonly message: string;
  /** Lines shown beneath. */
  readonly description: string;
  readonly default: string;
  readonly required: boolean;
  readonly check: Check<string>;
  /** Hands the terminal to an editor; gives the text it was left with. */
  readonly edit?: (text: string) => Promise<string>;
  /** What Tab makes of the text typed so far. */
  readonly complete?: (typed: string) => Completion;
  /** A text as it is shown on the line of the question. */
  readonly shown: (text: string) => string;
  /** Once aborted, the line is closed and must be left alone. */
  readonly signal: AbortSignal;
  readonly theme: QuestionTheme;
}

export interface Completion {
  /** What was typed, as far as it goes on in one way only. */
  readonly text: string;
  /** The ways it may go on, where there are several. */
  readonly candidates: string;
}
