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
import { messageOf } from '../thrown.ts';
import { type Line, usePaste } from './paste.ts';
import type { TextConfig } from './text-config.ts';
import { answeredText, openText } from './text-view.ts';

/** A line of text, with Tab to complete it or take over the default; more lines by pasting, or Ctrl-O for an editor. */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const [status, setStatus] = useState<'idle' | 'loading' | 'editing' | 'done'>('idle');
  const [above, setAbove] = useState('');
  const [value, setValue] = useState('');
  const [standard, setStandard] = useState(config.default);
  const [error, setError] = useState('');
  const [candidates, setCandidates] = useState('');
  const prefix = usePrefix({ status, theme: makeTheme(config.theme) });

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
