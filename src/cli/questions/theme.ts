import type { ChalkInstance } from 'chalk';
import { oneLine } from '../outputs/sanitise.ts';

/** How the questions look; colours only where standard error takes them. */
export function questionTheme(paint: ChalkInstance) {
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
