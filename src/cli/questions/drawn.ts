import { checkbox, confirm, password, search } from '@inquirer/prompts';
import { oneLine } from '../outputs/sanitise.ts';
import type {
  Check,
  Choice,
  ChoiceQuestion,
  ConfirmQuestion,
  EditQuestion,
  PathQuestion,
  Prompter,
  PrompterOptions,
  SearchQuestion,
  SecretQuestion,
  SeveralQuestion,
  TextQuestion,
} from '../prompter.ts';
import { asking } from './asking.ts';
import { chosenTooFewOrMany, matching } from './choices.ts';
import { editText } from './editor.ts';
import { completePath, meantPath } from './path-completion.ts';
import { textQuestion } from './text-question.ts';
import { questionTheme } from './theme.ts';

/** Lines of a list shown at once, and the lines a question needs besides. */
const MOST_LINES = 10;
const OTHER_LINES = 6;

/** Questions that are drawn and redrawn in place. */
export function drawnPrompter({ io, env, cwd }: PrompterOptions): Prompter {
  const theme = questionTheme(io.paintErr);
  const home = env['HOME'] ?? env['USERPROFILE'];
  /** The description stands beside the question until that is answered. */
  const common = (question: { message: string; description?: string }) => {
    const description =
      question.description === undefined ? '' : `  ${io.paintErr.dim(oneLine(question.description))}`;
    const message = (text: string, status: string) =>
      io.paintErr.bold(text) + (status === 'done' ? '' : description);
    return { message: oneLine(question.message), theme: { ...theme, style: { ...theme.style, message } } };
  };
  const pageSize = () => Math.max(3, Math.min(MOST_LINES, io.stderr.rows - OTHER_LINES));

  /** The terminal as the editor expects it, and back as the question needs it. */
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
    text: (question: TextQuestion, signal) =>
      asking(io, signal, place =>
        textQuestion(
          {
            ...question,
            message: oneLine(question.message),
            theme,
            ...described(question),
            required: question.required ?? false,
            edit: text => edit(text, place.signal),
          },
          place,
        ),
      ),

    secret: (question: SecretQuestion, signal) =>
      asking(io, signal, place =>
        password(
          { ...common(question), mask: '*', toggleMask: false, validate: verdict(question.check) },
          place,
        ),
      ),

    choice: <T>(question: ChoiceQuestion<T>, signal: AbortSignal) =>
      asking(io, signal, place =>
        search<T>(
          {
            ...common(question),
            ...('default' in question && { default: question.default }),
            pageSize: pageSize(),
            source: words => matching(question.choices, words ?? '').map(listed),
          },
          place,
        ),
      ),

    search: <T>(question: SearchQuestion<T>, signal: AbortSignal) =>
      asking(io, signal, place =>
        search<T>(
          {
            ...common(question),
            pageSize: pageSize(),
            source: async (words, { signal }) =>
              (await question.find(words ?? '', AbortSignal.any([signal, place.signal]))).map(listed),
          },
          place,
        ),
      ),

    several: <T>(question: SeveralQuestion<T>, signal: AbortSignal) =>
      asking(io, signal, place =>
        checkbox<T>(
          {
            ...common(question),
            pageSize: pageSize(),
            choices: question.choices.map(choice => ({
              ...listed(choice),
              checked: question.defaults?.includes(choice.value) ?? false,
            })),
            validate: chosen => chosenTooFewOrMany(chosen.length, question) ?? true,
          },
          place,
        ),
      ),

    confirm: (question: ConfirmQuestion, signal) =>
      asking(io, signal, place => confirm({ ...common(question), default: question.default }, place)),

    path: async (question: PathQuestion, signal) => {
      const typed = await asking(io, signal, place =>
        textQuestion(
          {
            message: oneLine(question.message),
            theme,
            ...described(question),
            required: true,
            complete: text => completePath(text, { cwd, home, proposes: question.proposes }),
            check: text => question.check?.(meantPath(text, home)),
          },
          place,
        ),
      );
      return meantPath(typed, home);
    },

    edit: (question: EditQuestion, signal) => editText(question.text ?? '', { env, signal }),
  };
}

function described(question: { description?: string }): { description?: string } {
  return question.description === undefined ? {} : { description: oneLine(question.description) };
}

function listed<T>(choice: Choice<T>): { value: T; name: string; description?: string } {
  return { value: choice.value, name: oneLine(choice.name), ...described(choice) };
}

function verdict(check: Check<string> | undefined): (answer: string) => Promise<string | true> {
  return async answer => (await check?.(answer)) ?? true;
}
