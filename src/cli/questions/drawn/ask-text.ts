import { password } from '@inquirer/prompts';
import { editText } from '../editor.ts';
import { fitted } from '../fit-text.ts';
import { completePath, meantPath } from '../path-completion.ts';
import type { PathQuestion, SecretQuestion, TextQuestion } from '../types.ts';
import { asking, type Place } from './asking.ts';
import type { Drawing } from './drawing.ts';
import { bracketingPastes, withoutBracketing } from './paste.ts';
import { textQuestion } from './text-question.ts';

/** Fewest columns an answer is shown in, however long the question. */
const SHORTEST_ANSWER = 20;

export function askText(drawing: Drawing, question: TextQuestion, signal: AbortSignal): Promise<string> {
  const { io } = drawing;
  const ask = (place: Place) =>
    textQuestion(
      {
        ...configOf(drawing, question),
        required: question.required ?? false,
        check: question.check ?? (() => undefined),
        edit: text => place.screen.lend(() => editInBetween(drawing, text, place.signal)),
        signal: place.signal,
      },
      place,
    );
  return bracketingPastes(io, () => asking(drawing, signal, ask));
}

/** A path, or anything else that the question's check takes. */
export async function askPath(
  drawing: Drawing,
  question: PathQuestion,
  signal: AbortSignal,
): Promise<string> {
  const { proposes, check } = question;
  const typed = await asking(drawing, signal, place =>
    textQuestion(
      {
        ...configOf(drawing, question),
        required: true,
        check: async text => check?.(await meantPath(text, drawing)),
        complete: text => {
          const { candidates, ...completed } = completePath(text, { ...drawing, proposes });
          return { ...completed, candidates: drawing.beneath(candidates.join('  ')) };
        },
        signal: place.signal,
      },
      place,
    ),
  );
  return meantPath(typed, drawing);
}

export function askSecret(drawing: Drawing, question: SecretQuestion, signal: AbortSignal): Promise<string> {
  const { theme, message } = drawing;
  const validate = async (answer: string) => (await question.check?.(answer)) ?? true;
  return asking(drawing, signal, place =>
    password({ message: message(question.message), mask: '*', toggleMask: false, validate, theme }, place),
  );
}

function configOf(drawing: Drawing, question: { message: string; description?: string; default?: string }) {
  const message = () => drawing.message(question.message);
  return {
    message,
    description: () => drawing.beneath(question.description),
    default: question.default ?? '',
    shown: (text: string) =>
      fitted(text, Math.max(SHORTEST_ANSWER, drawing.columns() - message().length - 5)),
    onResize: drawing.io.onResize,
    theme: drawing.theme,
  };
}

/** Gives the terminal to an editor as it expects it, and takes it back as the question needs it. */
async function editInBetween({ io, env }: Drawing, text: string, signal: AbortSignal): Promise<string> {
  const { stream } = io.stdin;
  stream.setRawMode?.(false);
  try {
    return await withoutBracketing(io, signal, () => editText(text, { env, signal }));
  } finally {
    stream.setRawMode?.(!signal.aborted);
  }
}
