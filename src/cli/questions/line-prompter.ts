import { oneLine } from '../outputs/sanitise.ts';
import type { Check, Prompter, PrompterOptions } from '../prompter.ts';
import { fitted } from './fit-text.ts';
import { type Judged, numberedList, oneChoice, severalChoices } from './line-choices.ts';
import { readLine } from './line-reader.ts';
import { meantPath } from './path-completion.ts';

/** Longest description that is read out, in columns. */
const LONGEST = 400;

interface Asked {
  readonly message: string;
  readonly description?: string;
}

/** Plain lines and numbered lists, for screen readers and for terminals that can't move the cursor. */
export function linePrompter({ io, env, cwd }: PrompterOptions): Prompter {
  const home = env['HOME'] ?? env['USERPROFILE'];

  /** Asks until the answer is right. */
  const ask = async <T>(
    question: Asked & { readonly hint?: string; readonly hidden?: boolean },
    signal: AbortSignal,
    judge: (line: string) => Judged<T> | Promise<Judged<T>>,
  ): Promise<T> => {
    const description = question.description ? `. ${fitted(question.description, LONGEST)}` : '';
    const line = `${oneLine(question.message)}${description}${question.hint ?? ''}: `;
    for (;;) {
      const typed = await readLine(line, { io, signal, hidden: question.hidden ?? false });
      const judged = await judge(typed);
      if ('answer' in judged) {
        return judged.answer;
      }
      io.err(`${oneLine(judged.problem)}\n`);
    }
  };

  return {
    text: ({ default: standard = '', required = false, check, ...question }, signal) =>
      ask({ ...question, hint: standardHint(standard) }, signal, line =>
        checked(line || standard, { required, check }),
      ),

    secret: ({ check, ...question }, signal) =>
      ask({ ...question, hint: ' (not shown)', hidden: true }, signal, line => checked(line, { check })),

    choice: ({ choices, default: standard, ...question }, signal) => {
      const at = choices.findIndex(({ value }) => value === standard);
      const name = choices[at]?.name ?? '';
      io.err(numberedList(choices, io.stderr.columns));
      return ask({ ...question, hint: standardHint(name) }, signal, line => oneChoice(choices, line || name));
    },

    search: async (question, signal) => {
      let found = await question.find('', signal);
      for (;;) {
        io.err(numberedList(found, io.stderr.columns));
        const hint = found.length === 0 ? '' : ' (a number, or other words)';
        const typed = await ask({ ...question, hint }, signal, line => ({ answer: line }));
        const judged = /^\d+$/u.test(typed) ? oneChoice(found, typed) : undefined;
        if (judged !== undefined && 'answer' in judged) {
          return judged.answer;
        }
        found = await question.find(typed, signal);
        io.err(found.length === 0 ? 'Nothing found.\n' : '');
      }
    },

    several: (question, signal) => {
      const names = question.choices.filter(({ value }) => question.defaults?.includes(value));
      const standard = standardHint(names.map(({ name }) => name).join(', '));
      io.err(numberedList(question.choices, io.stderr.columns));
      return ask({ ...question, hint: ` with commas between${standard}` }, signal, line =>
        severalChoices(question, line),
      );
    },

    path: ({ check, ...question }, signal) =>
      ask(question, signal, async line =>
        checked(line === '' ? '' : await meantPath(line, { cwd, home }), { required: true, check }),
      ),
  };
}

function standardHint(standard: string): string {
  return standard === '' ? '' : ` (default: ${oneLine(standard)})`;
}

async function checked(
  answer: string,
  { required = false, check }: { required?: boolean; check?: Check<string> | undefined },
): Promise<Judged<string>> {
  const problem = required && answer === '' ? 'An answer is needed here.' : await check?.(answer);
  return problem === undefined ? { answer } : { problem };
}
