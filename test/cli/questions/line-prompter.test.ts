import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LinePrompter } from '../../../src/cli/questions/line-prompter.ts';
import type { NumberQuestion } from '../../../src/cli/questions/question.ts';
import type { Io } from '../../../src/cli/terminal/io.ts';

/** Answers a question for a number with these lines; returns the number and what was shown. */
async function answerNumber(
  question: Omit<NumberQuestion, 'message'>,
  lines: readonly string[],
): Promise<{ number: number | undefined; shown: string }> {
  const stdin = new PassThrough();
  const remainingLines = [...lines];
  let shown = '';
  const io: Pick<Io, 'err'> & { readonly stdin: object } = {
    stdin: { isTerminal: true, stream: stdin },
    err: text => {
      shown += text;
      if (text.startsWith('How many')) {
        setImmediate(() => stdin.write(`${remainingLines.shift() ?? ''}\n`));
      }
    },
  };

  const prompter = new LinePrompter({ io: io as Io, env: {}, cwd: '.' });
  const number = await prompter.number(
    { message: 'How many', ...question },
    AbortSignal.timeout(5000),
  );
  return { number, shown };
}

it.each([
  { name: 'gives no number without a default', question: {} },
  { name: 'is answered by the default', question: { default: 3 }, expected: 3 },
])('a line of blanks $name', async ({ question, expected }) => {
  expect((await answerNumber(question, ['  '])).number).toBe(expected);
});

it('asks again for a required number after a line of blanks', async () => {
  const { number, shown } = await answerNumber({ required: true }, ['  ', ' 4 ']);

  expect(number).toBe(4);
  expect(shown).toContain('Enter an answer.');
});
