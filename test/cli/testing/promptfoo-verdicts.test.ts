import { expect, it } from 'vitest';
import table from './promptfoo-verdicts.json' with { type: 'json' };
import { Project } from './support.ts';

it('a configuration of promptfoo gets the verdicts of promptfoo', async () => {
  const { rows } = table;
  const tests = rows.map(({ assertion, output }) => ({ vars: { output }, assert: [assertion] }));
  const config = { prompts: ['{{output}}'], providers: ['echo'], tests };
  const project = new Project({ 'promptfooconfig.json': JSON.stringify(config) });
  const { stdout } = await project.run(['test', 'promptfooconfig.json', '--json']);
  const { cases } = JSON.parse(stdout()) as { readonly cases: readonly { readonly status: string }[] };
  expect(rows.map((row, at) => ({ ...row, pass: cases[at]?.status === 'passed' }))).toEqual(rows);
});
