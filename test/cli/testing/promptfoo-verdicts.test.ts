import { expect, it } from 'vitest';
import { hasPython } from '../../support/system.ts';
import table from './promptfoo-verdicts.json' with { type: 'json' };
import { Project } from './support.ts';

/** An assertion with promptfoo's verdict on the output of a model, or on the result of a provider that is a program. */
interface Row {
  readonly assertion: { readonly type: string };
  readonly output?: string;
  readonly result?: object;
  readonly vars?: object;
  readonly metadata?: object;
  readonly pass: boolean;
}

const ROWS: readonly Row[] = table.rows.filter(
  ({ assertion }) => hasPython || !assertion.type.includes('python'),
);

/** A provider that returns the results which the tests give it. */
const PROVIDER = `export default class {
  id() { return 'double'; }
  async callApi(prompt, { vars }) { return vars.result; }
}`;

it.each([
  ['echo', ROWS.filter(({ result }) => result === undefined)],
  ['file://double.mjs', ROWS.filter(({ result }) => result !== undefined)],
])(
  'a configuration of promptfoo gets the verdicts of promptfoo: %s',
  { timeout: 300_000 },
  async (provider, rows) => {
    const tests = rows.map(({ assertion, output = '', result, vars, metadata }) => ({
      vars: { output, ...(result && { result }), ...vars },
      ...(metadata && { metadata }),
      assert: [assertion],
    }));
    const config = { prompts: ['{{output}}'], providers: [provider], tests };
    const files = { 'promptfooconfig.json': JSON.stringify(config), 'double.mjs': PROVIDER };
    const argv = ['test', 'promptfooconfig.json', '--allow-commands', '--json'];
    const { stdout } = await new Project(files).run(argv);
    const { cases } = JSON.parse(stdout()) as { readonly cases: readonly { readonly status: string }[] };
    expect(rows.map((row, at) => ({ ...row, pass: cases[at]?.status === 'passed' }))).toEqual(rows);
  },
);
