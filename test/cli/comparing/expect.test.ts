import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { ECHO, Project } from '../../support/project.ts';
import { FakeProvider } from '../../support/providers/fake-provider.ts';
import { ProviderLedger } from '../../support/providers/provider-ledger.ts';

/** A prompt whose answers never contain the text. */
const SILENT = ECHO.replace('{{text}}', 'nothing of {{#if text}}it{{/if}}');
const ROW_IDS = Array.from({ length: 8 }, (_, index) => `row${index + 1}`);

/**
 * Creates a project with eight rows: the first three have a case of their name, the next three a case
 * with their inputs, and the last two none.
 */
function createProject(files: Readonly<Record<string, string>> = {}): Project {
  const cases = ROW_IDS.slice(0, 6).map((id, index) =>
    index < 3
      ? `  - {name: ${id}, expect: {contains: "${id} text"}, inputs: {text: other}}\n`
      : `  - {name: case ${index}, expect: {contains: "${id} text"}, inputs: {text: "${id} text"}}\n`,
  );
  return new Project({
    'a.prompt': ECHO,
    'b.prompt': SILENT,
    'c.prompt': ECHO,
    'a.test.yaml': `cases:\n${cases.join('')}`,
    'rows.csv': `id,text\n${ROW_IDS.map(id => `${id},${id} text\n`).join('')}`,
    ...files,
  });
}

/** The flags that check each row against its case. */
const EXPECT_FLAGS = ['--from', 'rows.csv', '--expect', 'a.test.yaml'];

/** Reads the result of each target: the last of its six cells, after the three of the row. */
function readResults(line = ''): string[] {
  const cells = line.split('\t').slice(3);
  return cells.filter((_, index) => index % 6 === 5);
}

describe('compare --expect', () => {
  it('compares each later target with the first, and leaves out rows without a case', async () => {
    const { exitCode, stdout } = await createProject().run([
      'compare',
      'a.prompt',
      'b.prompt',
      'c.prompt',
      ...EXPECT_FLAGS,
    ]);
    expect(stdout()).toContain(
      'verdict\tb.prompt\tworse: 0 % passed, 100 % with a.prompt; the difference is -100 points',
    );
    expect(stdout()).toContain(
      'verdict\tc.prompt\tno difference shown: 100 % passed, 100 % with a.prompt',
    );

    const lines = stdout().split('\n');
    expect(readResults(lines[0])).toEqual(['passed', 'failed', 'passed']);
    expect(readResults(lines[6])).toEqual(['-', '-', '-']);
    expect(exitCode).toBe(0);
  });

  it.each([
    { targets: ['a.prompt', 'b.prompt'], flags: ['--fail-on', 'worse'], code: EXIT.runFailed },
    { targets: ['b.prompt', 'a.prompt'], flags: ['--fail-on', 'worse'], code: 0 },
    {
      targets: ['a.prompt', 'c.prompt', 'b.prompt'],
      flags: ['--fail-on', 'worse'],
      code: EXIT.runFailed,
    },
    { targets: ['a.prompt', 'c.prompt'], flags: ['--fail-on', 'unsure'], code: EXIT.runFailed },
    {
      targets: ['a.prompt', 'c.prompt'],
      flags: ['--fail-on', 'unsure', '--margin', '40%'],
      code: 0,
    },
    { targets: ['a.prompt', 'b.prompt'], flags: ['--fail-on', 'failed'], code: 0 },
  ])('exits with $code for $targets and $flags', async ({ targets, flags, code }) => {
    const { exitCode } = await createProject().run([
      'compare',
      ...targets,
      ...EXPECT_FLAGS,
      ...flags,
    ]);
    expect(exitCode).toBe(code);
  });

  it('reports in JSON and on the page which answers passed', async () => {
    const comparison = createProject();
    const { stdout } = await comparison.run([
      'compare',
      'a.prompt',
      'b.prompt',
      ...EXPECT_FLAGS,
      '--json',
      '--report',
      'page.html',
    ]);
    const rows = JSON.parse(stdout()) as {
      case: string | null;
      results: { passed: boolean | null }[];
    }[];

    expect(
      rows.map(row => [row.case, ...row.results.map(({ passed }) => passed)]).slice(2, 7),
    ).toEqual([
      ['row3', true, false],
      ['case 3', true, false],
      ['case 4', true, false],
      ['case 5', true, false],
      [null, null, null],
    ]);

    const page = readFileSync(path.join(comparison.home, 'page.html'), 'utf8');
    expect(page).toContain('b.prompt: worse: 0 % passed');
    expect(page).toContain('without a case, so not counted: row7, row8');
    expect(page).toContain('does not contain');
  });

  it.each([
    { flags: ['--fail-on', 'worse'], message: '--fail-on worse needs --expect' },
    { flags: ['--fail-on', 'unsure'], message: '--fail-on unsure needs --expect' },
    { flags: ['--margin', '5%'], message: '--margin needs --fail-on unsure' },
    { flags: ['--judge', 'echo'], message: '--judge needs --expect' },
    { flags: ['--retry-failed'], message: '--retry-failed needs --resume' },
    { flags: ['--expect', 'none.test.yaml'], message: '--expect: none.test.yaml does not exist' },
    {
      flags: ['--expect', 'other.test.yaml'],
      message: '--expect: no row has a case in other.test.yaml',
    },
    {
      flags: ['--expect', 'command.test.yaml'],
      message: 'command.test.yaml:3: it runs its own command',
    },
    { flags: ['--provider-batch'], message: "can't be used in a batch: only openai" },
  ])('refuses $flags, and runs nothing', async ({ flags, message }) => {
    const comparison = createProject({
      'other.test.yaml': 'target: a.prompt\ncases:\n  - {name: x, inputs: {text: x}}\n',
      'command.test.yaml':
        'target: a.prompt\ncases:\n  - {name: row1, expect: {command: [node]}}\n',
    });

    const { exitCode, stderr, stdout } = await comparison.run([
      'compare',
      'a.prompt',
      'b.prompt',
      '--from',
      'rows.csv',
      ...flags,
    ]);
    expect(stderr()).toContain(message);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('compare --provider-batch', () => {
  it('sends a batch for each target and one for the judge, and none again with --resume', async () => {
    const provider = await FakeProvider.start();
    onTestFinished(() => provider.close());
    const ledger = new ProviderLedger();
    ledger.verdict = ({ parameters }) => {
      const messages = JSON.stringify(parameters['messages']);
      if (messages.includes('You judge')) {
        return { text: messages.includes('bad') ? 'No.' : 'Yes.' };
      }
      return { text: messages.includes('loud') ? 'bad' : 'good' };
    };

    provider.reset(ledger.handler);
    const rubricCases = ROW_IDS.slice(0, 6).map(
      id => `  - {name: ${id}, inputs: {text: x}, expect: {rubric: is good}}\n`,
    );
    const comparison = createProject({
      'data/models.yaml': `providers:\n  o: {baseUrl: "${provider.baseUrl}", batch: true}\nmodels:\n  - {model: open, modality: text, provider: o, price: {input: 2, output: 8}}\n`,
      'soft.prompt': ECHO.replace('model: echo', 'model: open'),
      'loud.prompt': ECHO.replace('model: echo', 'model: open').replace(
        '{{text}}',
        'loud {{text}}',
      ),
      'soft.test.yaml': `cases:\n${rubricCases.join('')}`,
    });
    const env = { PROMPTRUN_DATA_DIR: path.join(comparison.home, 'data') };
    const flags = [
      '--from',
      'rows.csv',
      '--expect',
      'soft.test.yaml',
      '--judge',
      'open',
      '--fail-on',
      'worse',
    ];
    const argv = ['compare', 'soft.prompt', 'loud.prompt', ...flags, '--provider-batch'];
    const first = await comparison.run(argv, { env });

    expect(first.stdout()).toContain('loud.prompt\tworse: 0 % passed, 100 % with soft.prompt');
    expect(first.exitCode).toBe(EXIT.runFailed);

    const getBatchSizes = (): number[] => ledger.batches.map(({ entries }) => entries.length);
    // 8 rows for each target, then 6 cases for each of the 2 answers.
    expect(getBatchSizes()).toEqual([8, 8, 12]);

    const resumed = await comparison.run([...argv, '--resume'], { env });
    expect(resumed.stdout()).toContain('loud.prompt\tworse: 0 % passed, 100 % with soft.prompt');
    expect(getBatchSizes()).toEqual([8, 8, 12]);
  });
});
