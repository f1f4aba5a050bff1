import { expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';

const CONFIG = "prompts: ['{{out}}']\nproviders: [echo]\ntests: file://t.csv\n";

async function tested(table: string) {
  const project = new Project({ 'promptfooconfig.yaml': CONFIG, 't.csv': table });
  const { exitCode, stdout, stderr } = await project.run(['test', '--json']);
  const { cases } = JSON.parse(stdout()) as {
    readonly cases: readonly { readonly status: string }[];
  };
  return { exitCode, stderr: stderr(), statuses: cases.map(({ status }) => status) };
}

it('a table of tests gets the verdicts of promptfoo', async () => {
  const rows: [row: string, verdict: 'passed' | 'failed'][] = [
    ['hello,is-refusal,,,,', 'failed'],
    ['"I\'m sorry, I can\'t help",is-refusal,,,,', 'passed'],
    ['hello,  hello ,,,,', 'passed'],
    [' hello,hello,,,,', 'failed'],
    ['kitten,levenshtein: sitten,,,,', 'failed'],
    ['kitten,levenshtein(1): sitten,,,,', 'passed'],
    ['the cat sat,bleu(0.9): the cat sat down here,,,,', 'passed'],
    ['hi,javascript(0.9): 0.5,,,,', 'passed'],
    ['007,equals: 7,,,,', 'failed'],
    ['hi,not-contains:x,contains:q,,,', 'failed'],
    ['hi,latency,,,,', 'failed'],
    ['hi,contains,,,,', 'failed'],
    ["hi,javascript: context.vars.__id === 'q',,,,q", 'passed'],
    [
      `hi,"javascript: context.test.metadata.tag === 'z' && context.test.metadata.list[1] === 'b, c'",,z,"a, b\\, c",`,
      'passed',
    ],
    ['hi,unknown-type: foo,,,,', 'failed'],
    ['hi, ,,,,', 'passed'],
  ];

  const head = ' out ,__expected,__expected_more,__metadata:tag,__metadata:list[],__id';
  const { statuses } = await tested([head, ...rows.map(([row]) => row)].join('\n'));
  expect(statuses).toEqual(rows.map(([, verdict]) => verdict));
});

it('a table of tests may have thresholds in a column, and empty columns that have no equivalent', async () => {
  const table = `out,__expected,__config:__expected:threshold,__prefix,__threshold
kitten,levenshtein: sitten,1,,
kitten,javascript: 0.5,0.6,,
`;
  expect((await tested(table)).statuses).toEqual(['passed', 'failed']);
});

it.each([
  ['out,__prefix,__threshold\na,b,\nc,,0.5\n', 't.csv:2: the column `__prefix` has no equivalent'],
  [
    'out,__prefix,__threshold\na,b,\nc,,0.5\n',
    't.csv:3: the column `__threshold` has no equivalent',
  ],
  ['out,__expected\na,b,c\n', "t.csv:1: the table can't be read: Invalid Record Length"],
  ['out,__config:__expected:threshold\na,b\n', 't.csv:2: `b` in the column'],
])('a table of tests is refused if it would be tested otherwise: %j', async (table, message) => {
  const { exitCode, stderr } = await tested(table);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(EXIT.usage);
});
