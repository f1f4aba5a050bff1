import { useEffect, useState } from '@inquirer/core';
import type { ChalkInstance } from 'chalk';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { fitted, paragraph } from '../fit-text.ts';
import type { PrompterOptions } from '../types.ts';

/** Lines of a list shown at once, and the lines a question needs besides. */
const MOST_LINES = 10;
const OTHER_LINES = 8;
const FEWEST_LINES = 3;
/** Columns that the mark before a question takes. */
const BESIDE_MESSAGE = 4;

/** What the drawn questions share. */
export interface Drawing extends PrompterOptions {
  /** What `~` stands for. */
  readonly home: string | undefined;
  readonly theme: QuestionTheme;
  readonly columns: () => number;
  readonly pageSize: () => number;
  /** A message that fits on its line. */
  readonly message: (text: string) => string;
  /** A description for the line of the message, or in lines below it where it is long. */
  readonly beside: (description: string | undefined) => string;
  /** A description in lines of its own. */
  readonly beneath: (description: string | undefined) => string;
}

export function drawing(options: PrompterOptions): Drawing {
  const { io, env } = options;
  const columns = () => io.stderr.columns;
  const beneath = (text = '') => (text === '' ? '' : paragraph(text, columns()));
  const beside = (text = '') => {
    if (text.length >= columns() / 2) {
      return `\n${io.paintErr.dim(beneath(text))}\n `;
    }
    return text === '' ? '' : `  ${io.paintErr.dim(fitted(text, columns()))}`;
  };
  return {
    ...options,
    home: env['HOME'] ?? env['USERPROFILE'],
    theme: questionTheme(io.paintErr),
    columns,
    pageSize: () => Math.max(FEWEST_LINES, Math.min(MOST_LINES, io.stderr.rows - OTHER_LINES)),
    message: text => fitted(text, columns() - BESIDE_MESSAGE),
    beside,
    beneath,
  };
}

/** How the questions look; colours only where standard error takes them. */
function questionTheme(paint: ChalkInstance) {
  const tip = (keys: readonly (readonly [key: string, action: string])[]) =>
    keys.length === 0 ? '' : `  ${paint.dim(keys.map(([key, action]) => `${key} ${action}`).join(' · '))}`;
  return {
    prefix: { idle: paint.blue('?'), done: paint.green('✔') },
    spinner: { frames: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'].map(frame => paint.yellow(frame)) },
    icon: { cursor: '❯', checked: paint.green('◉'), unchecked: '◯' },
    style: {
      answer: paint.cyan,
      // Called with the question's state as well, which a colour would print beside the text.
      message: (text: string) => paint.bold(text),
      error: (text: string) => paint.red(`> ${oneLine(text)}`),
      defaultAnswer: (text: string) => paint.dim(`(${text})`),
      help: paint.dim,
      highlight: paint.cyan,
      key: paint.bold,
      searchTerm: paint.cyan,
      description: paint.dim,
      disabled: paint.dim,
    },
    tip,
  };
}

export type QuestionTheme = ReturnType<typeof questionTheme>;

/** Has a question drawn again, for its new size, whenever the terminal has got another. */
export function useRedrawing(onResize: Io['onResize']): void {
  const [, setSize] = useState({});
  useEffect(() => onResize(() => setSize({})), []);
}
