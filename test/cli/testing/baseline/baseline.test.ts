import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { CommandResult } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';

/** Formats a case that passes or fails, by its text. */
const formatCase = (name: string, passes: boolean, more = ''): string =>
  `  - {name: ${name}, inputs: {text: ${passes ? 'yes' : 'no'}}, expect: {equals: "yes"}${more}}\n`;

const formatCases = (answers: string): string =>
  `cases:\n${Array.from(answers, (answer, index) => formatCase(`case ${index + 1}`, answer === 'y')).join('')}`;

/** A project whose `before.json` is the report of an earlier test. */
class BaselineProject extends Project {
  /** Creates a project with a report of these answers: `yn` means that only the first case passed. */
  static async create(answers: string): Promise<BaselineProject> {
    const project = new BaselineProject({
      'echo.prompt': ECHO,
      'echo.test.yaml': formatCases(answers),
    });
    await project.test('--reporter', 'json', '--out', 'before.json');
    return project;
  }

  /** Compares these answers with the report. */
  async compare(answers: string, ...flags: string[]): Promise<CommandResult> {
    this.write('echo.test.yaml', formatCases(answers));
    return this.test('--baseline', 'before.json', ...flags);
  }

  test(...flags: string[]): Promise<CommandResult> {
    return this.run(['test', ...flags]);
  }

  read(file: string): string {
    return readFileSync(path.join(this.home, file), 'utf8');
  }
}

const WORSE =
  'worse: 30 % passed, 100 % before; the difference is -70 points, probably between -100 and -35.4 points';

describe('test --baseline', () => {
  it('says in one line that cases became worse, and how sure that is', async () => {
    const project = await BaselineProject.create('yyyyyyyyyy');
    const { stdout, exitCode } = await project.compare('yyynnnnnnn');
    expect(stdout()).toContain(`compared with the baseline: ${WORSE} (p = 0.016, 10 cases)\n`);
    expect(stdout()).toContain('cases: 7 worse, 0 better, 3 the same, 0 new, 0 gone\n');
    expect(stdout()).toContain('FAILED echo.test.yaml: case 4, worse than before (100 %) (');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('finds the cases of a file whose name macOS lists with separate accents', async () => {
    const files = {
      'echo.prompt': ECHO,
      'gr\u00fcn.test.yaml': `target: ./echo.prompt\n${formatCases('y')}`,
    };
    const project = new BaselineProject(files);
    await project.test('--reporter', 'json', '--out', 'before.json');
    project.write('before.json', project.read('before.json').replaceAll('gr\u00fcn', 'gru\u0308n'));
    const { stdout } = await project.test('--baseline', 'before.json', '--filter', 'gru\u0308n');

    expect(stdout()).toContain('cases: 0 worse, 0 better, 1 the same, 0 new, 0 gone\n');
  });

  it('says which difference this many cases would have shown if they show none', async () => {
    const project = await BaselineProject.create('yyyyynnnnn');
    const { stdout } = await project.compare('yyyynynnnn');
    expect(stdout()).toMatch(
      /no difference shown: 50 % passed, 50 % before; the difference is \+0 points, .*; this many cases show a difference of 46\.9 points four times out of five/u,
    );
  });

  it('says that fewer than six cases cannot show any difference', async () => {
    const project = await BaselineProject.create('yyyyy');
    const { stdout, exitCode } = await project.compare('nnnnn', '--fail-on', 'worse');
    expect(stdout()).toContain('no difference shown');
    expect(stdout()).toContain('fewer than 6 cases cannot show any difference');
    expect(exitCode).toBe(0);
  });

  it('draws the difference of all cases and of each changed one on the page, around 0', async () => {
    const project = await BaselineProject.create('yyyyyyyyyy');
    const { stdout } = await project.compare('yyynnnnnnn', '--reporter', 'html');

    expect(stdout()).toContain('aria-label="since the baseline: -70 points (-100 to -35.4)"');
    expect(stdout()).toMatch(
      /<svg class="bad"[^>]*since the baseline: -70 [^>]*>.*?<rect class="interval" x="0\.00%" width="32\.\d+%"/u,
    );
    expect(stdout()).toContain('<line class="mark" x1="50.00%" x2="50.00%"');
    expect(stdout().match(/aria-label="since the baseline: -100 points/gu)).toHaveLength(7);
  });

  it('has its figures and the names of the cases in JSON', async () => {
    const project = await BaselineProject.create('yyyyyynn');
    project.write('echo.test.yaml', `${formatCases('nnnnnny')}${formatCase('added', true)}`);
    const { stdout } = await project.test('--baseline', 'before.json', '--json');
    const { baseline } = JSON.parse(stdout()) as { baseline: Record<string, unknown> };
    const caseName = (name: string): object => ({ file: 'echo.test.yaml', name, model: null });

    expect(baseline).toEqual({
      verdict: 'no difference shown',
      p: expect.closeTo(0.125) as number,
      difference: expect.closeTo(-5 / 7) as number,
      interval: [-1, expect.closeTo(-0.0155, 3)],
      smallest: expect.any(Number) as number,
      better: [caseName('case 7')],
      worse: [1, 2, 3, 4, 5, 6].map(number => caseName(`case ${number}`)),
      same: [],
      new: [caseName('added')],
      gone: [caseName('case 8')],
    });
  });

  it('has its verdict in every report', async () => {
    const project = await BaselineProject.create('yyyyyyyyyy');
    const reporters = ['junit', 'html', 'markdown', 'github'];
    await project.compare(
      'yyynnnnnnn',
      ...reporters.flatMap(reporter => ['--reporter', reporter, '--out', reporter]),
    );
    for (const reporter of reporters) expect(project.read(reporter)).toContain(WORSE);

    expect(project.read('junit')).toContain('<property name="baseline.verdict" value="worse"/>');
    expect(project.read('github')).toContain(
      '::error title=Baseline::compared with the baseline: worse',
    );
    expect(project.read('markdown')).toContain('worse than before (100 %)');
  });

  it('pairs cases of different models if each side has only one', async () => {
    const project = await BaselineProject.create('yyyyyy');
    const { stdout } = await project.compare('yyyyyy', '-m', 'echo');
    expect(stdout()).toContain('6 the same, 0 new, 0 gone');
  });

  it('pairs cases by their model if a side has several', async () => {
    const project = await BaselineProject.create('yyyyyy');
    await project.test('-m', 'echo,sandbox', '--reporter', 'json', '--out', 'before.json');
    const { stdout } = await project.compare('yyyyyy', '-m', 'echo');
    expect(stdout()).toContain('6 the same, 0 new, 6 gone');
  });

  it('pairs cases with the same name by their order', async () => {
    const formatTwins = (first: boolean, second: boolean): string =>
      `cases:\n${formatCase('twin', first)}${formatCase('twin', second)}`;
    const project = new BaselineProject({
      'echo.prompt': ECHO,
      'echo.test.yaml': formatTwins(true, false),
    });
    await project.test('--reporter', 'json', '--out', 'before.json');
    project.write('echo.test.yaml', formatTwins(false, false));
    const { stdout } = await project.test('--baseline', 'before.json');
    expect(stdout()).toContain('1 worse, 0 better, 1 the same');
  });

  it('ignores cases that --filter leaves out', async () => {
    const project = await BaselineProject.create('yyyyyyyyyy');
    const { stdout } = await project.compare('yyyyyyyyyy', '--filter', 'case 1');
    expect(stdout()).toContain('2 the same, 0 new, 0 gone');
  });

  it('leaves cases that could not be run out of the figures', async () => {
    const project = await BaselineProject.create('yyyyyyy');
    const broken = '  - {name: case 7, inputs: {text: x}, expect: {command: [./missing]}}\n';
    project.write('echo.test.yaml', `${formatCases('yyyyyy')}${broken}`);
    const { stdout, exitCode } = await project.test(
      '--baseline',
      'before.json',
      '--allow-commands',
    );

    expect(stdout()).toContain('6 the same');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('test --fail-on', () => {
  it.each([
    {
      before: 'yyyyyyyyyy',
      after: 'yyynnnnnnn',
      flags: ['--fail-on', 'worse'],
      code: EXIT.runFailed,
    },
    { before: 'yyynnnnnnn', after: 'yyynnnnnnn', flags: ['--fail-on', 'worse'], code: 0 },
    { before: 'yyynnnnnnn', after: 'yyyyyyyyyy', flags: ['--fail-on', 'worse'], code: 0 },
    {
      before: 'yyynnnnnnn',
      after: 'yyynnnnnnn',
      flags: ['--fail-on', 'failed'],
      code: EXIT.runFailed,
    },
    {
      before: 'yyyyyyyyyy',
      after: 'yyyyyyyyyy',
      flags: ['--fail-on', 'unsure'],
      code: EXIT.runFailed,
    },
    {
      before: 'yyyyyyyyyy',
      after: 'yyyyyyyyyy',
      flags: ['--fail-on', 'unsure', '--margin', '28%'],
      code: 0,
    },
    {
      before: 'yyyyyyyyyy',
      after: 'yyyyyyyyyy',
      flags: ['--fail-on', 'unsure', '--margin', '27%'],
      code: EXIT.runFailed,
    },
    {
      before: 'yyynnnnnnn',
      after: 'yyyyyyyyyy',
      flags: ['--fail-on', 'unsure', '--margin', '0%'],
      code: 0,
    },
  ])(
    'exits with $code for $flags if the answers change from $before to $after',
    async ({ before, after, flags, code }) => {
      const failedCount = after.replaceAll('y', '').length;
      const project = await BaselineProject.create(before);
      const { exitCode, stdout } = await project.compare(after, ...flags);
      expect(exitCode).toBe(code);
      expect(stdout()).toContain(`${failedCount} failed`);
    },
  );

  it.each([
    { flags: ['--fail-on', 'worse'], message: '--fail-on worse needs --baseline' },
    { flags: ['--fail-on', 'unsure'], message: '--fail-on unsure needs --baseline' },
    { flags: ['--margin', '5%'], message: '--margin needs --fail-on unsure' },
    {
      flags: ['--baseline', 'before.json', '--fail-on', 'worse', '--margin', '5%'],
      message: '--margin needs --fail-on unsure',
    },
    {
      flags: ['--baseline', 'before.json', '--fail-on', 'unsure', '--margin', '5'],
      message: '--margin takes a percentage from 0% to 100%, such as 5%, not "5"',
    },
    {
      flags: ['--baseline', 'before.json', '--failed'],
      message: "--baseline and --failed can't be used together",
    },
  ])('$flags is a usage error', async ({ flags, message }) => {
    const project = await BaselineProject.create('yy');
    const { exitCode, stderr } = await project.test(...flags);
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('a baseline that cannot be used', () => {
  it.each([
    { content: undefined, message: '--baseline: before.json does not exist' },
    { content: 'no JSON', message: 'before.json is not a JSON report of tests' },
    { content: '[]', message: 'before.json is not a JSON report of tests' },
    { content: '{"cases": [{"name": "x"}]}', message: 'cases[0] has no file or no name' },
    {
      content: '{"cases": [{"file": "x", "name": "x", "passed": 3, "runs": 2}]}',
      message: 'cases[0] does not say how many of its runs passed',
    },
    {
      content: '{"cases": [{"file": "other", "name": "x", "passed": 1, "runs": 1}]}',
      message: 'none of its cases with a rate is in this test',
    },
    {
      content: '{"sure": {"maxRepeat": 100}, "cases": []}',
      message:
        'before.json was made with --sure --max-repeat 100, and this test runs without --sure',
    },
  ])('is refused before anything is run: $message', async ({ content, message }) => {
    const project = new BaselineProject({
      'echo.prompt': ECHO,
      'echo.test.yaml': formatCases('y'),
    });
    if (content !== undefined) writeFileSync(path.join(project.home, 'before.json'), content);
    const { exitCode, stderr } = await project.test(
      '--baseline',
      'before.json',
      '--record',
      'recorded',
    );

    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
    expect(existsSync(path.join(project.home, 'recorded', 'runs'))).toBe(false);
  });

  it('is refused if its test with --sure had another --max-repeat', async () => {
    const project = new BaselineProject({
      'echo.prompt': ECHO,
      'echo.test.yaml': `pass: 50%\n${formatCases('yyyyyy')}`,
    });
    await project.test('--sure', '--reporter', 'json', '--out', 'before.json');
    const compare = ['--sure', '--baseline', 'before.json'];
    const accepted = await project.test(...compare);
    expect(accepted.stdout()).toContain('6 the same');
    expect(accepted.exitCode).toBe(0);

    const refused = await project.test(...compare, '--max-repeat', '50');
    expect(refused.stderr()).toContain('was made with --sure --max-repeat 100');
    expect(refused.exitCode).toBe(EXIT.usage);
  });
});
