import { wantsPlainLines } from '../terminal/terminal-context.ts';
import type { ListQuestion, Prompter, PrompterOptions } from './types.ts';

/** Loads the questions; lines instead of drawn ones with `ACCESSIBLE` or on a dumb terminal. */
export async function createPrompter(options: PrompterOptions): Promise<Prompter> {
  const prompter = wantsPlainLines(options.env)
    ? (await import('./line-prompter.ts')).linePrompter(options)
    : (await import('./drawn-prompter.ts')).drawnPrompter(options);
  return { ...prompter, list: (question, signal) => askForList(prompter, question, signal) };
}

/** Takes several lines pasted at once as several items. */
async function askForList(
  prompter: Pick<Prompter, 'text'>,
  { message, description = '', default: standard = [], required = false, check }: ListQuestion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const offered = standard.join(', ');
  const items: string[] = [];
  for (;;) {
    const isFirst = items.length === 0;
    const answer = await prompter.text(
      {
        message: isFirst ? message : `${message} ${items.length + 1}`,
        description: isFirst
          ? `${description === '' ? '' : `${description}. `}One item a line; an empty line ends it.`
          : '',
        ...(isFirst && { default: offered, required }),
        lines: 'several items',
        check: text => firstProblem(itemsIn(text), isFirst && text === offered ? undefined : check),
      },
      signal,
    );
    if (isFirst && answer === offered) return standard;
    if (answer === '') return items;
    items.push(...itemsIn(answer));
  }
}

function itemsIn(text: string): string[] {
  return text.split('\n').filter(line => line !== '');
}

async function firstProblem(
  items: readonly string[],
  check: ListQuestion['check'],
): Promise<string | undefined> {
  for (const item of items) {
    const problem = await check?.(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
