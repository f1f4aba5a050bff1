import { fitOnLine, wrapParagraph } from '../terminal/fit-text.ts';
import type { PrompterOptions } from './question.ts';

/** Keys and their actions, shown below a question. */
export type KeyHints = readonly (readonly [key: string, action: string])[];

/** Maximum length of an error, in lines. */
const MAX_ERROR_LINES = 2;

/** Returns the theme of questions, with colours only if standard error supports them. */
export function createQuestionTheme(
  { io }: PrompterOptions,
  description = '',
  moreKeys: KeyHints = [],
) {
  const { paintErr: paint, stderr } = io;
  const describe = (): string => {
    if (description === '') return '';
    if (description.length < stderr.columns / 2) {
      return `  ${paint.dim(fitOnLine(description, stderr.columns))}`;
    }
    // The answer is typed below a long description, after the blank.
    return `\n${paint.dim(wrapParagraph(description, stderr.columns))}\n `;
  };
  return {
    prefix: { idle: paint.blue('?'), done: paint.green('✔') },
    spinner: { interval: 80, frames: Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', frame => paint.yellow(frame)) },
    icon: { cursor: '❯', checked: paint.green('◉'), unchecked: '◯' },
    style: {
      message: (text: string, status: string) =>
        paint.bold(text) + (status === 'done' ? '' : describe()),
      answer: (text: string) => paint.cyan(fitOnLine(text, stderr.columns / 2)),
      defaultAnswer: (text: string) => paint.dim(`(${fitOnLine(text, stderr.columns / 2)})`),
      error: (text: string) => paint.red(`> ${fitOnLine(text, stderr.columns * MAX_ERROR_LINES)}`),
      help: (text: string) => paint.dim(text),
      highlight: (text: string) => paint.cyan(text),
      searchTerm: (text: string) => `› ${paint.cyan(text)}`,
      description: (text: string) => paint.dim(text),
      candidates: (names: readonly string[]) =>
        paint.dim(wrapParagraph(names.join('  '), stderr.columns)),
      keysHelpTip: (keys: KeyHints) =>
        `  ${paint.dim([...moreKeys, ...keys].map(([key, action]) => `${key} ${action}`).join(' · '))}`,
    },
  };
}

export type QuestionTheme = ReturnType<typeof createQuestionTheme>;
