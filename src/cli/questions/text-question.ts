import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  isTabKey,
  makeTheme,
  useKeypress,
  usePrefix,
  useRef,
  useState,
} from '@inquirer/core';
import { messageOf } from '../../files/error-utils.ts';
import { counted } from '../core/counted.ts';
import type { QuestionTheme } from './question-theme.ts';

type KeyHandler = Parameters<typeof useKeypress>[0];
type Key = Parameters<KeyHandler>[0];
type Line = Parameters<KeyHandler>[1];

/** How a question for a text is put. */
export interface TextConfig {
  readonly message: string;
  /** Taken by Enter on an empty line; Tab puts it there to be changed. */
  readonly default?: string;
  readonly required: boolean;
  readonly validate: (text: string) => Promise<true | string>;
  /** Hands the terminal to an editor; gives the text it was left with. */
  readonly edit?: (text: string, signal: AbortSignal) => Promise<string>;
  /** What Tab makes of the text typed so far: as far as it goes on in one way only, and the ways it may go on. */
  readonly complete?: (typed: string) => { readonly text: string; readonly candidates: readonly string[] };
  /** Once aborted, the line is closed and must be left alone. */
  readonly signal: AbortSignal;
  readonly theme: QuestionTheme;
}

/** What stock `input` can't do: lines pasted as one answer, Tab on paths, and an editor that draws on standard error. */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const theme = makeTheme<Pick<QuestionTheme, 'style'>>(config.theme);
  const [status, setStatus] = useState<'idle' | 'loading' | 'editing' | 'done'>('idle');
  const [above, setAbove] = useState(''); // lines before the one that is typed, each with its line break
  const [value, setValue] = useState('');
  const [standard, setStandard] = useState(config.default ?? '');
  const [beneath, setBeneath] = useState('');
  const prefix = usePrefix({ status, theme });

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
    const isMissing = config.required && answer === '';
    const problem = isMissing ? 'An answer is needed here.' : await config.validate(answer);
    if (problem === true) {
      setValue(answer);
      setStatus('done');
      done(answer);
    } else {
      put(typed, line);
      setBeneath(theme.style.error(problem));
      setStatus('idle');
    }
  };

  const edit = async (editor: NonNullable<TextConfig['edit']>, line: Line): Promise<void> => {
    setStatus('editing'); // and not 'loading', whose spinner would be drawn over the editor
    line.pause();
    const text = await editor(above + value || standard, config.signal).catch((fault: unknown) => {
      setBeneath(theme.style.error(messageOf(fault)));
      return '';
    });
    if (config.signal.aborted) return;
    line.resume();
    if (text === '') setStatus('idle');
    else await submit(text, text, line);
  };

  const complete = (line: Line): void => {
    const { text, candidates } = config.complete?.(value) ?? { text: value || standard, candidates: [] };
    put(above + text, line);
    setBeneath(theme.style.candidates(candidates));
  };

  const takePaste = usePaste((lines, line) => {
    setAbove(above + lines.map(text => `${text}\n`).join(''));
    setValue(line.line);
  });

  useKeypress(async (key, line) => {
    if (status !== 'idle' || takePaste(key, line)) return;
    setBeneath('');
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

  const question = `${prefix} ${theme.style.message(config.message, status === 'done' ? 'done' : 'idle')}`;
  if (status === 'done') return `${question} ${theme.style.answer(value)}`;
  const keys: [key: string, action: string][] = [];
  if (above !== '') keys.push(['enter', 'sends all lines'], ['backspace', 'goes back up']);
  if (config.complete) keys.push(['tab', 'completes']);
  if (config.edit) keys.push(['ctrl+o', above === '' ? 'editor, for several lines' : 'editor']);
  const tip = keys.length === 0 ? '' : theme.style.keysHelpTip(keys);
  const offered = value === '' && standard !== '' ? `${theme.style.defaultAnswer(standard)} ` : value;
  const count = above.split('\n').length - 1;
  const typed =
    count === 0
      ? offered
      : `${theme.style.answer(above.trimEnd())} ${theme.style.help(counted(count, 'line'))}\n› ${value}`;
  return [`${question} ${typed}`, [beneath, tip].filter(Boolean).join('\n')];
});

/**
 * Takes the keys of something pasted, so that a line break in it is not Enter. Hands over its lines but the last, which
 * is on the line of the question by then.
 */
function usePaste(take: (lines: readonly string[], line: Line) => void): (key: Key, line: Line) => boolean {
  const paste = useRef<{ readonly lines: string[]; line: string; after: string } | undefined>(undefined);
  return (key, line) => {
    const { current } = paste;
    if (key.name === 'paste-start') {
      paste.current = { lines: [], line: line.line, after: '' };
    } else if (current === undefined) {
      return false;
    } else if (key.name === 'paste-end') {
      paste.current = undefined;
      take(current.lines, line);
    } else if (isEnterKey(key)) {
      // A carriage return and a line feed are one line break.
      if (key.name !== 'enter' || current.after !== 'return') current.lines.push(current.line);
      current.line = '';
      current.after = key.name;
    } else {
      current.line = line.line;
      current.after = key.name;
    }
    return true;
  };
}
