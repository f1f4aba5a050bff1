import { expect, it } from 'vitest';
import { Project } from '../../../support/project.ts';
import { hasPython } from '../../../support/system.ts';
import table from './verdicts.json' with { type: 'json' };

/**
 * An assertion with promptfoo's verdict on the output of a model, or on the result of a provider
 * that is a program.
 */
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

interface ReportedCase {
  readonly repetitions: readonly {
    readonly error: object | null;
    readonly mismatches: readonly object[];
  }[];
}

/** Returns how many assertions of a case were not met; undefined if it could not be checked. */
function countUnmet(reportedCase: ReportedCase | undefined): number | undefined {
  const [repetition] = reportedCase?.repetitions ?? [];
  return repetition?.error === null ? repetition.mismatches.length : undefined;
}

it.each([
  ['echo', ROWS.filter(({ result }) => result === undefined)],
  ['file://double.mjs', ROWS.filter(({ result }) => result !== undefined)],
])(
  'a configuration of promptfoo gets the verdicts of promptfoo: %s',
  { timeout: 300_000 },
  async (provider, rows) => {
    const groups = groupRows(rows);
    const tests = groups.map(group => ({
      ...group.answer,
      assert: group.rows.map(row => row.assertion),
    }));
    const config = { prompts: ['{{output}}'], providers: [provider], tests };
    const files = { 'promptfooconfig.json': JSON.stringify(config), 'double.mjs': PROVIDER };
    const argv = ['test', 'promptfooconfig.json', '--allow-commands', '--json'];
    const { stdout } = await new Project(files).run(argv);
    const { cases } = JSON.parse(stdout()) as { readonly cases: readonly ReportedCase[] };
    const checkedGroups = groups.map((group, index) => ({
      ...group,
      unmetCount: countUnmet(cases[index]),
    }));

    expect(checkedGroups).toEqual(
      groups.map(group => ({ ...group, unmetCount: group.pass ? 0 : group.rows.length })),
    );
  },
);

interface Group {
  readonly answer: { readonly vars: object; readonly metadata?: object };
  readonly pass: boolean;
  readonly rows: Row[];
}

/**
 * Puts rows on the same answer with the same verdict together: they take one test, which starts the
 * program once.
 */
function groupRows(rows: readonly Row[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const { output = '', result, vars, metadata, pass } = row;
    const answer = {
      vars: { output, ...(result && { result }), ...vars },
      ...(metadata && { metadata }),
    };
    const key = JSON.stringify([answer, pass]);
    const group = groups.get(key) ?? { answer, pass, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()];
}

it.each([
  [{ type: 'is-refusal' }, 'the answer has no refusal'],
  [{ type: 'skill-used', value: { any: [1] } }, 'the assertion `skill-used` needs a skill'],
])('reports why an answer fails %j', async (assertion, reason) => {
  const tests = [{ vars: { output: 'Sure, here you go.' }, assert: [assertion] }];
  const config = { prompts: ['{{output}}'], providers: ['echo'], tests };
  const project = new Project({ 'promptfooconfig.json': JSON.stringify(config) });
  const { stdout } = await project.run(['test', 'promptfooconfig.json', '--json']);
  expect(stdout()).toContain(reason);
});
