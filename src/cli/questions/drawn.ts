import { checkbox, confirm, password, search } from '@inquirer/prompts';
import type { Check, Choice, Prompter, PrompterOptions, TextQuestion } from '../prompter.ts';
import { asking } from './asking.ts';
import { chosenTooFewOrMany, matching } from './choices.ts';
import { editText } from './editor.ts';
import { completePath, meantPath } from './path-completion.ts';
import { textQuestion } from './text-question.ts';
import { questionTheme } from './theme.ts';
import { fitted, paragraph } from './words.ts';

/** Lines of a list shown at once, and the lines a question needs besides. */
const MOST_LINES = 10;
const OTHER_LINES = 8;
/** Columns that a cursor and a tick take beside a choice. */
const BESIDE_CHOICE = 5;

type Keys = readonly (readonly [key: string, action: string])[];
const MOVE = ['↑↓', 'move'] as const;
const FILTER_KEYS: Keys = [MOVE, ['type', 'to filter'], ['enter', 'choose']];
const SEARCH_KEYS: Keys = [['type', 'to search'], MOVE, ['enter', 'choose']];
const TICK_KEYS: Keys = [MOVE, ['space', 'tick'], ['a', 'all'], ['i', 'invert'], ['enter', 'done']];

/** Questions that are drawn and redrawn in place. */
export function drawnPrompter({ io, env, cwd }: PrompterOptions): Prompter {
  const theme = questionTheme(io.paintErr);
  const home = env['HOME'] ?? env['USERPROFILE'];
  const columns = () => io.stderr.columns;
  const pageSize = () => Math.max(3, Math.min(MOST_LINES, io.stderr.rows - OTHER_LINES));

  /** Name and description of a question whose list follows right below. */
  const listQuestion = (question: { message: string; description?: string }, keys: Keys) => {
    const message = (text: string, status: string) => {
      const name = io.paintErr.bold(text);
      return status === 'done' ? name : `${name}${describedBeside(question.description)}`;
    };
    const keysHelpTip = () => theme.tip(keys);
    return {
      message: fitted(question.message, columns() - 4),
      pageSize: pageSize(),
      theme: { ...theme, style: { ...theme.style, message, keysHelpTip } },
    };
  };

  const describedBeside = (description: string | undefined) => {
    if (description === undefined || description === '') {
      return '';
    }
    return description.length < columns() / 2
      ? `  ${io.paintErr.dim(fitted(description, columns()))}`
      : `\n${io.paintErr.dim(paragraph(description, columns()))}\n`;
  };

  const textConfig = (question: Omit<TextQuestion, 'default'> & { default?: string }) => ({
    message: fitted(question.message, columns() - 4),
    description: question.description === undefined ? '' : paragraph(question.description, columns()),
    default: question.default ?? '',
    required: question.required ?? false,
    check: question.check ?? (() => undefined),
    shown: (text: string) => fitted(text, Math.max(20, columns() - question.message.length - 5)),
    theme,
  });

  const listed = <T>(choice: Choice<T>) => ({
    value: choice.value,
    name: fitted(choice.name, columns() - BESIDE_CHOICE),
    ...(choice.description && { description: paragraph(choice.description, columns()) }),
  });

  /** The terminal as an editor expects it, and back as the question needs it. */
  const edit = async (text: string, signal: AbortSignal): Promise<string> => {
    const { stream } = io.stdin;
    stream.setRawMode?.(false);
    try {
      return await editText(text, { env, signal });
    } finally {
      stream.setRawMode?.(!signal.aborted);
    }
  };

  return {
    text: (question, signal) =>
      asking(io, signal, place =>
        textQuestion(
          { ...textConfig(question), signal: place.signal, edit: text => edit(text, place.signal) },
          place,
        ),
      ),

    path: async (question, signal) => {
      const typed = await asking(io, signal, place =>
        textQuestion(
          {
            ...textConfig({
              ...question,
              required: true,
              check: async text => question.check?.(await meantPath(text, { cwd, home })),
            }),
            signal: place.signal,
            complete: text => {
              const { candidates, ...completion } = completePath(text, {
                cwd,
                home,
                proposes: question.proposes,
              });
              return { ...completion, candidates: paragraph(candidates.join('  '), columns()) };
            },
          },
          place,
        ),
      );
      return meantPath(typed, { cwd, home });
    },

    secret: (question, signal) =>
      asking(io, signal, place =>
        password(
          {
            message: question.message,
            mask: '*',
            toggleMask: false,
            validate: verdict(question.check),
            theme,
          },
          place,
        ),
      ),

    choice: (question, signal) =>
      asking(io, signal, place =>
        search(
          {
            ...listQuestion(question, FILTER_KEYS),
            ...(question.default !== undefined && { default: question.default }),
            source: words => matching(question.choices, words ?? '').map(listed),
          },
          place,
        ),
      ),

    search: (question, signal) =>
      asking(io, signal, place =>
        search(
          {
            ...listQuestion(question, SEARCH_KEYS),
            source: async (words, { signal }) =>
              (await question.find(words ?? '', AbortSignal.any([signal, place.signal]))).map(listed),
          },
          place,
        ),
      ),

    several: (question, signal) =>
      asking(io, signal, place =>
        checkbox(
          {
            ...listQuestion(question, TICK_KEYS),
            choices: question.choices.map(choice => ({
              ...listed(choice),
              checked: question.defaults?.includes(choice.value) ?? false,
            })),
            validate: chosen => chosenTooFewOrMany(chosen.length, question) ?? true,
          },
          place,
        ),
      ),

    confirm: (question, signal) =>
      asking(io, signal, place =>
        confirm({ message: question.message, default: question.default, theme }, place),
      ),

    edit: (question, signal) => editText(question.text ?? '', { env, signal }),
  };
}

function verdict(check: Check<string> | undefined): (answer: string) => Promise<string | true> {
  return async answer => (await check?.(answer)) ?? true;
}
