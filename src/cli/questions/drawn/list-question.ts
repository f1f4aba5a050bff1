import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isUpKey,
  makeTheme,
  useKeypress,
  usePagination,
  usePrefix,
  useRef,
  useState,
} from '@inquirer/core';
import { messageOf } from '../../../files/error-utils.ts';
import type { Io } from '../../terminal/io.ts';
import { type QuestionTheme, useRedrawing } from './drawing.ts';

/** A choice as it is drawn. */
export interface ListedChoice {
  readonly name: () => string;
  /** Lines shown beneath while the cursor is on it. */
  readonly description: () => string;
}

type Found<C> = readonly C[] | Promise<readonly C[]>;

export interface ListConfig<C extends ListedChoice> {
  readonly message: () => string;
  /** Stands beside the message until there is an answer. */
  readonly description: () => string;
  /** The choices while nothing is typed. */
  readonly choices: readonly C[];
  /** Where the cursor starts. */
  readonly start: number;
  /** The choices for what is typed; aborted once something else is. */
  readonly find: (words: string, signal: AbortSignal) => Found<C>;
  readonly tip: string;
  readonly pageSize: () => number;
  readonly onResize: Io['onResize'];
  readonly theme: QuestionTheme;
}

type Line = Parameters<Parameters<typeof useKeypress>[0]>[1];

/** One choice from a list that is narrowed by typing. Only a choice that fits all that was typed can be taken. */
export const listQuestion = createPrompt<ListedChoice, ListConfig<ListedChoice>>((config, done) => {
  const { style } = config.theme;
  const [status, setStatus] = useState<'idle' | 'loading' | 'done'>('idle');
  const [words, setWords] = useState('');
  const [choices, setChoices] = useState(config.choices);
  const [active, setActive] = useState(config.start);
  const [error, setError] = useState('');
  const search = useRef(new AbortController());
  const prefix = usePrefix({ status, theme: makeTheme(config.theme) });
  useRedrawing(config.onResize);

  const show = (found: readonly ListedChoice[], at = 0): void => {
    setChoices(found);
    setActive(at);
    setStatus('idle');
  };

  const searching = async (found: Promise<readonly ListedChoice[]>, signal: AbortSignal): Promise<void> => {
    setStatus('loading');
    try {
      const result = await found;
      if (!signal.aborted) show(result);
    } catch (fault) {
      if (signal.aborted) return;
      show([]);
      setError(messageOf(fault));
    }
  };

  const look = (typed: string): void => {
    search.current.abort();
    search.current = new AbortController();
    setWords(typed);
    setError('');
    const { signal } = search.current;
    const found = typed === '' ? config.choices : config.find(typed, signal);
    if (found instanceof Promise) void searching(found, signal);
    else show(found, typed === '' ? config.start : 0);
  };

  const chosen = status === 'loading' ? undefined : choices[active];

  useKeypress((key, line) => {
    if (status === 'done') return;
    if (isEnterKey(key) && chosen !== undefined) {
      setStatus('done');
      done(chosen);
    } else if (isEnterKey(key) || key.name === 'tab') {
      rewrite(line, words);
    } else if (isUpKey(key) || isDownKey(key)) {
      rewrite(line, words);
      const next = active + (isUpKey(key) ? -1 : 1);
      setActive(Math.max(0, Math.min(choices.length - 1, next)));
    } else if (line.line !== words) {
      look(line.line);
    }
  });

  const page = usePagination({
    items: choices,
    active,
    pageSize: config.pageSize(),
    loop: false,
    renderItem: ({ item, isActive }) => {
      if (status === 'loading') return style.help(`  ${item.name()}`);
      return isActive ? style.highlight(`❯ ${item.name()}`) : `  ${item.name()}`;
    },
  });

  const message = style.message(config.message());
  if (status === 'done') {
    return `${prefix} ${message} ${style.answer(chosen?.name() ?? '')}`;
  }
  const nothing = status === 'loading' || words === '' ? '' : style.help('  nothing found');
  const list = error === '' ? page || nothing : style.error(error);
  const beneath = [list, ' ', chosen === undefined ? '' : style.help(chosen.description()), config.tip];
  return [
    `${prefix} ${message}${config.description()} › ${style.searchTerm(words)}`,
    beneath.filter(text => text !== '').join('\n'),
  ];
});

/** Puts the line back as it was: Enter empties it, Tab and the arrows write into it. */
function rewrite(line: Line, words: string): void {
  line.clearLine(0);
  line.write(words);
}
