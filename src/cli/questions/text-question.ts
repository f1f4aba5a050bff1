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
import type { Check } from '../prompter.ts';
import type { QuestionTheme } from './theme.ts';

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

type Line = Parameters<Parameters<typeof useKeypress>[0]>[1];

/** A line of text, with Tab to complete it or take over the default, and Ctrl-O for an editor. */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const { style, tip } = config.theme;
  const [status, setStatus] = useState<'idle' | 'loading' | 'editing' | 'done'>('idle');
  const [value, setValue] = useState('');
  const [standard, setStandard] = useState(config.default);
  const [edited, setEdited] = useState('');
  const [error, setError] = useState('');
  const [candidates, setCandidates] = useState('');
  const prefix = usePrefix({ status, theme: makeTheme(config.theme) });

  /** Done with the answer, or back to the question with what is wrong with it. */
  const submit = async (answer: string, line: Line): Promise<void> => {
    setStatus('loading');
    const problem =
      config.required && answer === '' ? 'An answer is needed here.' : await config.check(answer);
    if (problem === undefined) {
      setValue(answer);
      setStatus('done');
      done(answer);
    } else {
      line.write(value);
      setError(problem);
      setStatus('idle');
    }
  };

  const edit = async (editor: (text: string) => Promise<string>, line: Line): Promise<void> => {
    setStatus('editing'); // and not 'loading', whose spinner would be drawn over the editor
    line.pause();
    const text = await editor(value || edited || standard).catch((fault: unknown) => {
      setError(fault instanceof Error ? fault.message : String(fault));
    });
    if (config.signal.aborted) {
      return;
    }
    line.resume();
    setEdited(text ?? '');
    if (text) {
      line.clearLine(0);
      await submit(text, line);
    } else {
      setStatus('idle');
    }
  };

  const complete = (line: Line): void => {
    line.clearLine(0);
    const completion = config.complete?.(value) ?? { text: value || standard, candidates: '' };
    line.write(completion.text);
    setValue(completion.text);
    setCandidates(completion.candidates);
  };

  useKeypress(async (key, line) => {
    if (status !== 'idle') {
      return;
    }
    setError('');
    setCandidates('');
    if (isEnterKey(key)) {
      await submit(value || standard, line);
    } else if (key.ctrl && key.name === 'o' && config.edit !== undefined) {
      await edit(config.edit, line);
    } else if (isTabKey(key)) {
      complete(line);
    } else if (isBackspaceKey(key) && value === '') {
      setStandard('');
    } else {
      setValue(line.line);
    }
  });

  const message = style.message(config.message);
  if (status === 'done') {
    return `${prefix} ${message} ${style.answer(config.shown(value))}`;
  }
  const offered = value === '' && standard !== '' ? style.defaultAnswer(config.shown(standard)) : undefined;
  const beneath = [
    style.help(config.description),
    candidates,
    error === '' ? '' : style.error(error),
    tip([
      ...(config.complete ? [['tab', 'completes'] as const] : []),
      ...(config.edit ? [['ctrl+o', 'editor'] as const] : []),
    ]),
  ];
  return [
    [prefix, message, offered, value].filter(part => part !== undefined).join(' '),
    beneath.filter(line => line !== '').join('\n'),
  ];
});
