import { wantsPlainLines } from '../terminal/terminal-context.ts';
import type { OpenQuestion, Prompter, PrompterOptions } from './question.ts';

type ListQuestion = OpenQuestion<readonly string[]>;

/**
 * Loads the prompter: plain lines with `ACCESSIBLE` or on a dumb terminal, else drawn questions.
 */
export async function createPrompter(options: PrompterOptions): Promise<Prompter> {
  const prompter = wantsPlainLines(options.env)
    ? new (await import('./line-prompter.ts')).LinePrompter(options)
    : new (await import('./drawn-prompter.ts')).DrawnPrompter(options);
  return Object.assign(prompter, {
    list: (question: ListQuestion, signal: AbortSignal) => askForList(prompter, question, signal),
  });
}

/** Asks for a list; several pasted lines are several items. */
async function askForList(
  prompter: Pick<Prompter, 'text'>,
  { message, description = '', default: defaults = [], required = false }: ListQuestion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const defaultText = defaults.join(', ');
  const items: string[] = [];
  for (;;) {
    const isFirst = items.length === 0;
    const answer = await prompter.text(
      {
        message: isFirst ? message : `${message} ${items.length + 1}`,
        description: isFirst
          ? `${description === '' ? '' : `${description}. `}One item per line; an empty line ends the list.`
          : '',
        ...(isFirst && { default: defaultText, required }),
        lines: 'several items',
      },
      signal,
    );
    if (isFirst && answer === defaultText) return defaults;
    if (answer === '') return items;

    items.push(...answer.split('\n').filter(line => line !== ''));
  }
}
