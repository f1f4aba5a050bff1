import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  isTabKey,
  makeTheme,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import { messageOf } from '../../../files/error-utils.ts';
import type { Io } from '../../terminal/io.ts';
import type { Check } from '../types.ts';
import { type QuestionTheme, useRedrawing } from './drawing.ts';
import { type Line, usePaste } from './paste.ts';

/** A line of text, with Tab to complete it or take over the default; more lines by pasting, or Ctrl-O for an editor. */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const [status, setStatus] = useState<'idle' | 'loading' | 'editing' | 'done'>('idle');
  const [above, setAbove] = useState('');
  const [value, setValue] = useState('');
  const [standard, setStandard] = useState(config.default);
  const [error, setError] = useState('');
  const [candidates, setCandidates] = useState('');
  const prefix = usePrefix({ status, theme: makeTheme(config.theme) });
  useRedrawing(config.onResize);

  /** Puts a text where it can be gone on with: its last line on the line that is typed. */
  const put = (text: string, line: Line): void => {
    const cut = text.lastIndexOf('\n') + 1;
    line.clearLine(0);
    line.write(text.slice(cut));
    setAbove(text.slice(0, cut));
    setValue(text.slice(cut));
  };

  /** Done with the answer, or back to the question with what was typed and what is wrong with it. */
  const submit = async (answer: string, typed: string, line: Line): Promise<void> => {
    setStatus('loading');
    const problem =
      config.required && answer === '' ? 'An answer is needed here.' : await config.check(answer);
    if (problem === undefined) {
      setAbove('');
      setValue(answer);
      setStatus('done');
      done(answer);
    } else {
      put(typed, line);
      setError(problem);
      setStatus('idle');
    }
  };

  const edit = async (editor: (text: string) => Promise<string>, line: Line): Promise<void> => {
    setStatus('editing'); // and not 'loading', whose spinner would be drawn over the editor
    line.pause();
    const text = await editor(above + value || standard).catch((fault: unknown) => {
      setError(messageOf(fault));
      return '';
    });
    if (config.signal.aborted) return;
    line.resume();
    if (text === '') setStatus('idle');
    else await submit(text, text, line);
  };

  const complete = (line: Line): void => {
    const completion = config.complete?.(value) ?? { text: value || standard, candidates: '' };
    put(above + completion.text, line);
    setCandidates(completion.candidates);
  };

  const paste = usePaste((lines, line) => {
    setAbove(above + lines.map(text => `${text}\n`).join(''));
    setValue(line.line);
  });

  useKeypress(async (key, line) => {
    if (status !== 'idle' || paste(key, line)) return;
    setError('');
    setCandidates('');
    if (isEnterKey(key)) {
      const typed = above + value;
      await submit(typed.replace(/\n$/u, '') || standard, typed, line);
    } else if (key.ctrl && key.name === 'o' && config.edit !== undefined) {
      await edit(config.edit, line);
    } else if (isTabKey(key)) {
      complete(line);
    } else if (isBackspaceKey(key) && value === '' && above !== '') {
      put(above.slice(0, -1), line);
    } else if (isBackspaceKey(key) && value === '') {
      setStandard('');
    } else {
      setValue(line.line);
    }
  });

  const state = { prefix, above, value, standard, candidates, error };
  return status === 'done' ? answeredText(state, config) : openText(state, config);
});

/** How a question for a text is put. */
export interface TextConfig {
  readonly message: () => string;
  /** Lines shown beneath. */
  readonly description: () => string;
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
  readonly onResize: Io['onResize'];
  readonly theme: QuestionTheme;
}

export interface Completion {
  /** What was typed, as far as it goes on in one way only. */
  readonly text: string;
  /** The ways it may go on, where there are several. */
  readonly candidates: string;
}

/** The state of a question for a text. */
export interface TextState {
  readonly prefix: string;
  /** Lines pasted before the one that is typed, each with its line break. */
  readonly above: string;
  readonly value: string;
  /** The default, as long as it is offered. */
  readonly standard: string;
  readonly candidates: string;
  readonly error: string;
}

/** The answered question. */
export function answeredText({ prefix, value }: TextState, { message, shown, theme }: TextConfig): string {
  return `${prefix} ${theme.style.message(message())} ${theme.style.answer(shown(value))}`;
}

/** The question up to the cursor, and what stands beneath. */
export function openText(state: TextState, config: TextConfig): [string, string] {
  const { style, tip } = config.theme;
  const keys = [
    ...(config.complete ? [['tab', 'completes'] as const] : []),
    ...(config.edit ? [['ctrl+o', 'editor, for several lines'] as const] : []),
  ];
  const beneath = [
    style.help(config.description()),
    state.above === ''
      ? ''
      : style.help('  several lines are one answer: enter sends them, backspace goes back up'),
    state.candidates,
    state.error === '' ? '' : style.error(state.error),
    tip(keys),
  ];
  return [lineOf(state, config), beneath.filter(line => line !== '').join('\n')];
}

function lineOf(
  { prefix, above, value, standard }: TextState,
  { message, shown, theme }: TextConfig,
): string {
  const { style } = theme;
  const question = `${prefix} ${style.message(message())}`;
  if (above !== '') {
    const count = above.split('\n').length - 1;
    return `${question} ${shown(above.trimEnd())} ${style.help(count === 1 ? '1 line' : `${count} lines`)}\n› ${value}`;
  }
  return value === '' && standard !== ''
    ? `${question} ${style.defaultAnswer(shown(standard))} `
    : `${question} ${value}`;
}
