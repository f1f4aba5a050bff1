import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { readCsv } from '../../src/cli/inputs/rows/csv.ts';
import { readJsonl } from '../../src/cli/inputs/rows/jsonl.ts';
import { escapeControls, toOneLine, toSafeFileName } from '../../src/cli/terminal/sanitise.ts';
import { quoteIfNeeded } from '../../src/cli/terminal/shell-words.ts';
import { anyText } from '../support/any-text.ts';
import { type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

const HOSTILE = [
  '\u001b[2J',
  '\u001b]8;;x\u0007',
  '\r',
  '\n',
  '\t',
  '\u0000',
  '\u0085',
  '\u009b31m',
  '\u202e',
  '\ud800',
  ' ',
  '.',
  '/',
  '\\',
  "'",
  '$',
  'a',
  'é',
  '😀',
];

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...HOSTILE), maxLength: 60 }),
  anyText({ maxLength: 60 }),
  fc
    .tuple(fc.constantFrom(...HOSTILE), fc.integer({ min: 1, max: 50_000 }))
    .map(([piece, times]) => piece.repeat(times)),
);

const table = fc.string({
  unit: fc.constantFrom(
    ',',
    '"',
    '\n',
    '\r',
    'a',
    'id',
    '{',
    '}',
    ':',
    '1',
    '\ufeff',
    ' ',
    '[',
    ']',
  ),
  maxLength: 80,
});

/** Yields a text in pieces of so many characters. */
async function* splitIntoPieces(whole: string, length: number): AsyncGenerator<string> {
  for (let index = 0; index < whole.length; index += length) {
    yield await Promise.resolve(whole.slice(index, index + length));
  }
}

/** Returns the rows of a text, or the message of its fault. */
async function readAllRows(rows: AsyncIterable<unknown>): Promise<string> {
  const all: unknown[] = [];
  try {
    for await (const row of rows) all.push(row);
    return JSON.stringify(all, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    return String(error);
  }
}

export default [
  fuzzed('a text that is shown cannot drive a terminal', text, async given => {
    const shown = await withDeadline(() => escapeControls(given));
    const line = await withDeadline(() => toOneLine(given));
    // oxlint-disable-next-line no-control-regex -- these are what must not be left
    return (
      !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u.test(shown) &&
      !/[\n\r\t]/.test(line)
    );
  }),

  fuzzed('a file name stays in its folder', text, async given => {
    const name = await withDeadline(() => toSafeFileName(given));
    return (
      name !== '' && name !== '.' && name !== '..' && !/[/\\:\n]/.test(name) && name.length < 100
    );
  }),

  fuzzed(
    'rows are the same in whatever pieces they come',
    fc.tuple(table, fc.integer({ min: 1, max: 9 })),
    async ([given, length]) => {
      const readTable = (text: AsyncIterable<string>) =>
        readCsv(text, { name: 'rows', delimiter: undefined });
      for (const read of [readTable, readJsonl]) {
        const whole = await withDeadline(() =>
          readAllRows(read(splitIntoPieces(given, given.length || 1))),
        );
        const pieces = await withDeadline(() => readAllRows(read(splitIntoPieces(given, length))));
        if (whole !== pieces) throw new Error(`${whole}\nin pieces: ${pieces}`);
      }
    },
  ),

  fuzzed(
    'a shell reads a word back as it was',
    fc.array(
      text.filter(
        given => !given.includes('\u0000') && !/\p{Surrogate}/u.test(given) && given.length < 2000,
      ),
      { minLength: 1, maxLength: 40, size: 'max' },
    ),
    words => {
      const input = `printf '%s\\0' ${words.map(word => quoteIfNeeded(word)).join(' ')}`;
      const read = execFileSync('bash', { encoding: 'utf8', input }).split('\u0000').slice(0, -1);
      return read.length === words.length && read.every((word, index) => word === words[index]);
    },
    // Each starts a shell, so that a few have all the words.
    { share: 0.1 },
  ),
] satisfies readonly Fuzzed[];
