import { expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';

const CONFIG = "prompts: ['{{out}}']\nproviders: [echo]\ntests: file://t.csv\n";

async function testTable(table: string) {
  const project = new Project({ 'promptfooconfig.yaml': CONFIG, 't.csv': table });
  const { exitCode, stdout, stderr } = await project.run(['test', '--json']);
  const { cases } = JSON.parse(stdout()) as {
    readonly cases: readonly { readonly status: string }[];
  };
  return { exitCode, stderr: stderr(), statuses: cases.map(({ status }) => status) };
}

it.each([
  [' out ,__expected', 'hello,is-refusal', 'failed'],
  [' out ,__expected', '"I\'m sorry, I can\'t help",is-refusal', 'passed'],
  [' out ,__expected', 'hello,  hello ', 'passed'],
  [' out ,__expected', ' hello,hello', 'failed'],
  [' out ,__expected', 'kitten,levenshtein: sitten', 'failed'],
  [' out ,__expected', 'kitten,levenshtein(1): sitten', 'passed'],
  [' out ,__expected', 'the cat sat,bleu(0.9): the cat sat down here', 'passed'],
  [' out ,__expected', 'hi,javascript(0.9): 0.5', 'passed'],
  [' out ,__expected', '007,equals: 7', 'failed'],
  [' out ,__expected,__expected_more', 'hi,not-contains:x,contains:q', 'failed'],
  [' out ,__expected', 'hi,latency', 'failed'],
  [' out ,__expected', 'hi,contains', 'failed'],
  [' out ,__expected,__id', "hi,javascript: context.vars.__id === 'q',q", 'passed'],
  [
    ' out ,__expected,__metadata:tag,__metadata:list[]',
    `hi,"javascript: context.test.metadata.tag === 'z' && context.test.metadata.list[1] === 'b, c'",z,"a, b\\, c"`,
    'passed',
  ],
  [' out ,__expected', 'hi,unknown-type: foo', 'failed'],
  [' out ,__expected', 'hi, ', 'passed'],
])(
  'a table with the header %j and the row %j gets the verdict of promptfoo',
  async (header, row, verdict) => {
    expect((await testTable(`${header}\n${row}`)).statuses).toEqual([verdict]);
  },
);

it('a table of tests may have thresholds in a column, and empty columns that have no equivalent', async () => {
  const table = `out,__expected,__config:__expected:threshold,__prefix,__threshold
kitten,levenshtein: sitten,1,,
kitten,javascript: 0.5,0.6,,
`;
  expect((await testTable(table)).statuses).toEqual(['passed', 'failed']);
});

it.each([
  ['out,__prefix,__threshold\na,b,\nc,,0.5\n', 't.csv:2: the column `__prefix` has no equivalent'],
  [
    'out,__prefix,__threshold\na,b,\nc,,0.5\n',
    't.csv:3: the column `__threshold` has no equivalent',
  ],
  ['out,__expected\na,b,c\n', "t.csv:1: the table can't be read: Invalid Record Length"],
  ['out,__config:__expected:threshold\na,b\n', 't.csv:2: `b` in the column'],
])(
  'a table of tests that is malformed, or has no equivalent here, is refused: %j',
  async (table, message) => {
    const { exitCode, stderr } = await testTable(table);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  },
);
