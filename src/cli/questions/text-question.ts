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
import { firstWords } from './words.ts';

export interface TextConfig {
  readonly message: string;
  readonly description?: string;
  readonly default?: string;
  readonly required: boolean;
  readonly check?: Check<string>;
  /** Hands the terminal to an editor; undefined as the result keeps what was typed. */
  readonly edit?: (text: string) => Promise<string>;
  /** Turns what was typed into what it stands for, when Tab is pressed. */
  readonly complete?: (typed: string) => Promise<Completion>;
  readonly theme: QuestionTheme;
}

export interface Completion {
  /** What was typed, as far as it goes on in one way only. */
  readonly text: string;
  /** The ways it may go on, where there are several. */
  readonly candidates: readonly string[];
}

type Status = 'idle' | 'loading' | 'done';

/** A line of text, with Tab to complete it or take over the default, and Ctrl-O for an editor. */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const [status, setStatus] = useState<Status>('idle');
  const [value, setValue] = useState('');
  const [standard, setStandard] = useState(config.default ?? '');
  const [notice, setNotice] = useState('');
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const prefix = usePrefix({ status, theme: makeTheme(config.theme) });

  const problemOf = async (answer: string): Promise<string | undefined> =>
    config.required && answer === '' ? 'An answer is needed here.' : config.check?.(answer);

  const submit = async (answer: string): Promise<boolean> => {
    const problem = await problemOf(answer);
    setNotice(problem === undefined ? '' : config.theme.style.error(problem));
    if (problem === undefined) {
      setValue(answer);
      setStatus('done');
      done(answer);
    }
    return problem === undefined;
  };

  useKeypress(async (key, rl) => {
    if (status !== 'idle') {
      return;
    }
    if (isEnterKey(key)) {
      setStatus('loading');
      if (!(await submit(value === '' ? standard : value))) {
        rl.write(value);
        setStatus('idle');
      }
    } else if (key.ctrl && key.name === 'o' && config.edit !== undefined) {
      setStatus('loading');
      rl.pause();
      try {
        const text = await config.edit(value || edited || standard);
        setEdited(text);
        if (text !== '' && (await submit(text))) {
          return;
        }
      } catch (error) {
        setNotice(config.theme.style.error(error instanceof Error ? error.message : String(error)));
      }
      rl.resume();
      setStatus('idle');
    } else if (isTabKey(key)) {
      rl.clearLine(0);
      const completion = await completed(value);
      rl.write(completion.text);
      setValue(completion.text);
      setNotice(config.theme.style.help(completion.candidates.join('  ')));
    } else if (isBackspaceKey(key) && value === '') {
      setStandard('');
    } else {
      setValue(rl.line);
      setNotice('');
    }
  });

  const completed = async (typed: string): Promise<Completion> =>
    (await config.complete?.(typed)) ?? { text: typed === '' ? standard : typed, candidates: [] };

  const message = config.theme.style.message(config.message);
  if (status === 'done') {
    return `${prefix} ${message} ${config.theme.style.answer(firstWords(value))}`;
  }
  const offered =
    value === '' && standard !== '' ? config.theme.style.defaultAnswer(firstWords(standard)) : undefined;
  const tips = config.theme.tip([
    ...(config.complete ? [['tab', 'completes'] as const] : []),
    ...(config.edit ? [['ctrl+o', 'editor'] as const] : []),
  ]);
  return [
    [prefix, message, offered, value].filter(part => part !== undefined).join(' '),
    [config.description && config.theme.style.help(config.description), notice, tips]
      .filter(line => line !== undefined && line !== '')
      .join('\n'),
  ];
});
