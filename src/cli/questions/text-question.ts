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
import { getErrorMessage } from '../../utils/error-utils.ts';
import { pluralize } from '../core/pluralize.ts';
import type { QuestionTheme } from './question-theme.ts';

type KeyHandler = Parameters<typeof useKeypress>[0];
type Key = Parameters<KeyHandler>[0];
type LineEditor = Parameters<KeyHandler>[1];

/** The configuration of a text question. */
export interface TextConfig {
  readonly message: string;
  /** The answer for Enter on an empty line; Tab inserts it for editing. */
  readonly default?: string;
  readonly required: boolean;
  readonly validate: (text: string) => Promise<true | string>;
  /** Opens an editor in the terminal and returns the edited text. */
  readonly edit?: (text: string, signal: AbortSignal) => Promise<string>;
  /** Completes the typed text: the unambiguous part, and the candidates. */
  readonly complete?: (typedText: string) => {
    readonly text: string;
    readonly candidates: readonly string[];
  };
  /** Aborts the question; the closed line must not be used afterwards. */
  readonly signal: AbortSignal;
  readonly theme: QuestionTheme;
}

/**
 * A text question that, unlike `input`, takes pasted lines as one answer, completes paths with Tab
 * and opens an editor on standard error.
 */
export const textQuestion = createPrompt<string, TextConfig>((config, done) => {
  const theme = makeTheme<TextTheme>(config.theme);
  const [status, setStatus] = useState<'idle' | 'loading' | 'editing' | 'done'>('idle');
  const typedLines = useTypedLines(config.default);
  const { earlierText, typedLine, defaultText } = typedLines;
  const typedText = earlierText + typedLine;
  const [feedback, setFeedback] = useState('');
  const prefix = usePrefix({ status, theme });

  /** Ends with the answer, or returns to the question with the typed text and its fault. */
  const submit = async (answer: string, rejectedText: string, line: LineEditor): Promise<void> => {
    setStatus('loading');
    const isMissing = config.required && answer === '';

    const problem = isMissing ? 'Enter an answer.' : await config.validate(answer);
    if (problem === true) {
      typedLines.setTypedLine(answer);
      setStatus('done');
      done(answer);
    } else {
      typedLines.replace(rejectedText, line);
      setFeedback(theme.style.error(problem));
      setStatus('idle');
    }
  };

  const edit = async (editor: NonNullable<TextConfig['edit']>, line: LineEditor): Promise<void> => {
    // Not 'loading', whose spinner would be drawn over the editor.
    setStatus('editing');
    line.pause();
    const draft = typedText === '' ? defaultText : typedText;
    const text = await editor(draft, config.signal).catch((fault: unknown) => {
      setFeedback(theme.style.error(getErrorMessage(fault)));
      return '';
    });
    if (config.signal.aborted) return;

    line.resume();

    if (text === '') {
      setStatus('idle');
    } else {
      await submit(text, text, line);
    }
  };

  const complete = (line: LineEditor): void => {
    const { text, candidates } = config.complete?.(typedLine) ?? {
      text: typedLine || defaultText,
      candidates: [],
    };
    typedLines.replace(earlierText + text, line);
    setFeedback(theme.style.candidates(candidates));
  };

  const consumePasteKey = usePaste(typedLines.paste);

  useKeypress(async (key, line) => {
    if (status !== 'idle' || consumePasteKey(key, line)) return;

    setFeedback('');
    if (isEnterKey(key)) {
      await submit(typedText.replace(/\n$/u, '') || defaultText, typedText, line);
    } else if (key.ctrl && key.name === 'o' && config.edit !== undefined) {
      await edit(config.edit, line);
    } else if (isTabKey(key)) {
      complete(line);
    } else if (isBackspaceKey(key) && typedLine === '' && earlierText !== '') {
      typedLines.replace(earlierText.slice(0, -1), line);
    } else if (isBackspaceKey(key) && typedLine === '') {
      typedLines.dropDefault();
    } else {
      typedLines.setTypedLine(line.line);
    }
  });

  if (status === 'done') {
    return `${prefix} ${theme.style.message(config.message, 'done')} ${theme.style.answer(typedLine)}`;
  }

  const lines = { earlierText, typedLine, defaultText, feedback };
  const question = `${prefix} ${theme.style.message(config.message, 'idle')}`;
  return [`${question} ${formatTyped(lines, theme)}`, formatTextBelow(lines, config, theme)];
});

/** Keeps the lines that are typed, and changes them together with the line of the terminal. */
function useTypedLines(initialDefault = '') {
  // The lines before the one that is typed, each with its line break.
  const [earlierText, setEarlierText] = useState('');
  const [typedLine, setTypedLine] = useState('');
  const [defaultText, setDefaultText] = useState(initialDefault);

  return {
    earlierText,
    typedLine,
    defaultText,
    setTypedLine,
    dropDefault: () => setDefaultText(''),
    /** Makes a text editable: its last line becomes the typed line. */
    replace: (text: string, line: LineEditor): void => {
      const lineStart = text.lastIndexOf('\n') + 1;
      line.clearLine(0);
      line.write(text.slice(lineStart));
      setEarlierText(text.slice(0, lineStart));
      setTypedLine(text.slice(lineStart));
    },
    /** Adds pasted lines above the typed one. */
    paste: (lines: readonly string[], line: LineEditor): void => {
      setEarlierText(earlierText + lines.map(text => `${text}\n`).join(''));
      setTypedLine(line.line);
    },
  };
}

/** The texts of an open question. */
interface QuestionLines {
  /** The lines before the one that is typed, each with its line break. */
  readonly earlierText: string;
  /** The line that is typed. */
  readonly typedLine: string;
  readonly defaultText: string;
  /** A fault or candidates, shown below the line. */
  readonly feedback: string;
}

type TextTheme = Pick<QuestionTheme, 'style'>;

/**
 * Returns the typed line, or the default while it is empty; earlier lines only as their text and
 * number.
 */
function formatTyped(
  { earlierText, typedLine, defaultText }: QuestionLines,
  { style }: TextTheme,
): string {
  const count = earlierText.split('\n').length - 1;
  if (count > 0) {
    return `${style.answer(earlierText.trimEnd())} ${style.help(pluralize(count, 'line'))}\n› ${typedLine}`;
  }
  return typedLine === '' && defaultText !== ''
    ? `${style.defaultAnswer(defaultText)} `
    : typedLine;
}

/** Returns the text below the line: a fault or candidates, and the keys that do something. */
function formatTextBelow(
  { earlierText, feedback }: QuestionLines,
  { complete, edit }: TextConfig,
  { style }: TextTheme,
): string {
  const keys: [key: string, action: string][] = [];
  if (earlierText !== '') keys.push(['enter', 'sends all lines'], ['backspace', 'goes back up']);
  if (complete) keys.push(['tab', 'completes']);
  if (edit) keys.push(['ctrl+o', earlierText === '' ? 'editor, for several lines' : 'editor']);

  const tip = keys.length === 0 ? '' : style.keysHelpTip(keys);
  return [feedback, tip].filter(Boolean).join('\n');
}

/**
 * Returns a function that takes a key if it belongs to pasted text, so that line breaks in it don't
 * count as Enter, and returns true then.
 *
 * @param onPaste called with all pasted lines but the last, which is already on the question's line
 */
function usePaste(
  onPaste: (lines: readonly string[], line: LineEditor) => void,
): (key: Key, line: LineEditor) => boolean {
  const paste = useRef<{ readonly lines: string[]; line: string; lastKeyName: string } | undefined>(
    undefined,
  );

  return (key, line) => {
    const { current } = paste;
    if (key.name === 'paste-start') {
      paste.current = { lines: [], line: line.line, lastKeyName: '' };
    } else if (current === undefined) {
      return false;
    } else if (key.name === 'paste-end') {
      paste.current = undefined;
      onPaste(current.lines, line);
    } else if (isEnterKey(key)) {
      // A carriage return and a line feed are one line break.
      if (key.name !== 'enter' || current.lastKeyName !== 'return') {
        current.lines.push(current.line);
      }
      current.line = '';
      current.lastKeyName = key.name;
    } else {
      current.line = line.line;
      current.lastKeyName = key.name;
    }
    return true;
  };
}
