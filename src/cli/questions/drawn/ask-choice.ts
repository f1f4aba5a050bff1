import { checkbox } from '@inquirer/prompts';
import { chosenTooFewOrMany, matching } from '../choices.ts';
import { fitted } from '../fit-text.ts';
import type { Choice, ChoiceQuestion, SearchQuestion, SeveralQuestion } from '../types.ts';
import { asking } from './asking.ts';
import type { Drawing } from './drawing.ts';
import { type ListConfig, type ListedChoice, listQuestion } from './list-question.ts';

/** Columns that a cursor and a tick take beside a choice. */
const BESIDE_CHOICE = 5;

const MOVE = ['↑↓', 'move'] as const;
const FILTER_KEYS = [MOVE, ['type', 'to filter'], ['enter', 'choose']] as const;
const SEARCH_KEYS = [['type', 'to search'], MOVE, ['enter', 'choose']] as const;
const TICK_KEYS = [MOVE, ['space', 'tick'], ['a', 'all'], ['i', 'invert'], ['enter', 'done']] as const;

type Listed<T> = ListedChoice & { readonly value: T };

export function askChoice<T>(
  drawing: Drawing,
  { choices, default: standard, ...question }: ChoiceQuestion<T>,
  signal: AbortSignal,
): Promise<T> {
  const list = {
    choices: choices.map(choice => listed(drawing, choice)),
    start: Math.max(
      0,
      choices.findIndex(({ value }) => value === standard),
    ),
    find: (words: string) => matching(choices, words).map(choice => listed(drawing, choice)),
    tip: drawing.theme.tip(FILTER_KEYS),
  };
  return chooseFrom<T>(drawing, question, list, signal);
}

export async function askSearch<T>(
  drawing: Drawing,
  { find, ...question }: SearchQuestion<T>,
  signal: AbortSignal,
): Promise<T> {
  const search = async (words: string, changed: AbortSignal) => {
    const found = await find(words, AbortSignal.any([signal, changed]));
    return found.map(choice => listed(drawing, choice));
  };
  const list = {
    choices: await search('', signal),
    start: 0,
    find: search,
    tip: drawing.theme.tip(SEARCH_KEYS),
  };
  return chooseFrom<T>(drawing, question, list, signal);
}

export function askSeveral<T>(
  drawing: Drawing,
  question: SeveralQuestion<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const { io, theme } = drawing;
  const description = drawing.beside(question.description).trimEnd();
  const message = (text: string, status: string) =>
    io.paintErr.bold(text) + (status === 'done' ? '' : description);
  const keysHelpTip = () => theme.tip(TICK_KEYS);
  const config = {
    message: drawing.message(question.message),
    pageSize: drawing.pageSize(),
    choices: question.choices.map(choice => ({
      value: choice.value,
      name: nameOf(drawing, choice),
      description: drawing.beneath(choice.description),
      checked: question.defaults?.includes(choice.value) ?? false,
    })),
    validate: (chosen: readonly unknown[]) => chosenTooFewOrMany(chosen.length, question) ?? true,
    theme: { ...theme, style: { ...theme.style, message, keysHelpTip } },
  };
  return asking(drawing, signal, place => checkbox<T>(config, place));
}

async function chooseFrom<T>(
  drawing: Drawing,
  question: { readonly message: string; readonly description?: string },
  list: Pick<ListConfig<Listed<T>>, 'choices' | 'start' | 'find' | 'tip'>,
  signal: AbortSignal,
): Promise<T> {
  const config = {
    ...list,
    message: () => drawing.message(question.message),
    description: () => drawing.beside(question.description),
    pageSize: drawing.pageSize,
    onResize: drawing.io.onResize,
    theme: drawing.theme,
  };
  // The question gives one of the choices it was given.
  const { value } = (await asking(drawing, signal, place => listQuestion(config, place))) as Listed<T>;
  return value;
}

function listed<T>(drawing: Drawing, choice: Choice<T>): Listed<T> {
  return {
    value: choice.value,
    name: () => nameOf(drawing, choice),
    description: () => drawing.beneath(choice.description),
  };
}

function nameOf(drawing: Drawing, { name }: Choice<unknown>): string {
  return fitted(name, drawing.columns() - BESIDE_CHOICE);
}
