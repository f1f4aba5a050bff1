import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { type CommandResult, runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';
import { chatAnswer, FakeProvider } from '../../../support/providers/fake-provider.ts';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

interface Report {
  readonly cases: readonly object[];
}

/** A project whose model answers in turn with yes for `y` and no for `n`, and the last one forever. */
class AnsweringProject extends Project {
  constructor(cases: string, answers: string, headLines = '') {
    super({
      'data/models.yaml': `providers:\n  here: {baseUrl: "${provider.baseUrl}"}\nmodels:\n  - {model: tiny, modality: text, provider: here, price: {input: 1, output: 1}}\n`,
      'ask.prompt': '---\nmodel: tiny\n---\nYes or no?',
      'ask.test.yaml': `${headLines}cases:\n${cases}`,
    });
    provider.reset(...Array.from(answers, letter => chatAnswer(letter === 'y' ? 'yes' : 'no')));
  }

  test(...flags: string[]): Promise<CommandResult> {
    const env = { PROMPTRUN_DATA_DIR: path.join(this.home, 'data') };
    return this.run(['test', '--concurrency', '1', ...flags], { env });
  }

  async report(...flags: string[]): Promise<Report> {
    const { stdout } = await this.test('--json', ...flags);
    return JSON.parse(stdout()) as Report;
  }
}

const formatCase = (lines: string): string =>
  `  - name: says yes\n    expect: {equals: "yes"}\n    ${lines}\n`;

const countRequests = (): number => provider.requests.length;

describe('a repeated case', () => {
  it('is reported as flaky with the number of its runs that passed and the interval of its rate', async () => {
    const project = new AnsweringProject(formatCase('repeat: 10\n    pass: 7'), 'yyynyynyyn');
    const { stdout, exitCode } = await project.test();

    expect(stdout()).toContain('passed ask.test.yaml: says yes 7 of 10 (40–89 %), flaky (');
    expect(stdout()).toContain(
      '70 % passed; the true rate is probably between 40 and 89 %; all of 10 tries pass: 0 %',
    );
    expect(exitCode).toBe(0);
  });

  it('names a reason of several runs once, with the numbers of the runs', async () => {
    const project = new AnsweringProject(formatCase('repeat: 5'), 'nnyny');
    const { stdout } = await project.test();
    expect(stdout()).toMatch(/\n {4}runs 1–2, 4: ask\.test\.yaml:\d+: .*\n/u);
    expect(stdout().match(/ask\.test\.yaml:\d+: /gu)).toHaveLength(1);
  });

  it('says how the cost of a model without a price becomes known', async () => {
    const project = new AnsweringProject(
      formatCase('').replace('{equals: "yes"}', '{cost: 0.1}'),
      'y',
    );
    const file = path.join(project.home, 'data', 'models.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/, price: \{.*?\}/u, ''));
    const { stdout } = await project.test();
    expect(stdout()).toContain('may be more than $0.1; give the model a price in models.yaml');
  });

  describe('on the page, after one that always fails', () => {
    /** Returns the page of a case that fails twice, and of one that passes 7 of 10 times. */
    async function renderPage(): Promise<string> {
      const failingCase = formatCase('repeat: 2').replace('says yes', 'always fails');
      const flakyCase = formatCase('repeat: 10\n    pass: 70%');
      const project = new AnsweringProject(`${failingCase}${flakyCase}`, 'nnyyynyynyyn');
      return (await project.test('--reporter', 'html')).stdout();
    }

    it('is tagged as flaky and comes first', async () => {
      const page = await renderPage();
      expect(page).toContain(
        '<span class="tag good">passed</span> <span class="tag changed">flaky</span> <b>says yes</b>',
      );
      expect(page).toContain('<b>always fails</b>');
      expect(page.indexOf('<b>says yes</b>')).toBeLessThan(page.indexOf('<b>always fails</b>'));
    });

    it('is drawn with its rate and the interval of its rate', async () => {
      const page = await renderPage();
      expect(page).toContain('aria-label="passed: 7 of 10 (40–89 %), 70 % needed"');
      expect(page).toContain('<rect class="interval" x="39.68%" width="49.54%" height="100%"/>');
      expect(page).toContain('<line class="value" x1="70.00%" x2="70.00%" y1="0" y2="100%"/>');
      expect(page).toContain('aria-label="all cases: 35 % (');
    });

    it('has its tokens once', async () => {
      const page = await renderPage();
      expect(page.match(/ s, \d+ tokens, /gu)).toHaveLength(2);
      expect(page).not.toMatch(/ tokens, \d+ tokens/u);
    });
  });

  it('has its figures in JSON', async () => {
    const project = new AnsweringProject(
      `${formatCase('repeat: 4')}${formatCase('pass: 1')}`,
      'yynyy',
    );
    const report = await project.report();

    expect(report.cases).toMatchObject([
      { passed: 3, runs: 4, rate: 0.75, flaky: true, status: 'failed', pass: 4 },
      { passed: 1, runs: 1, rate: 1, flaky: false, status: 'passed', pass: 1 },
    ]);
    expect(report).toMatchObject({ summary: { rate: 0.875, passK: { 1: 0.875 } } });
    expect(report).not.toHaveProperty('models');
  });

  it('runs as often as --repeat says, whatever its file says', async () => {
    const project = new AnsweringProject(`${formatCase('repeat: 2')}${formatCase('pass: 3')}`, 'y');
    const { exitCode } = await project.test('--repeat', '5');
    expect(countRequests()).toBe(10);
    expect(exitCode).toBe(0);
  });

  it.each(['0', '1001', 'x', '1.5'])('is not run %s times', async repeat => {
    const { exitCode, stderr } = await new AnsweringProject(formatCase('repeat: 2'), 'y').test(
      '--repeat',
      repeat,
    );
    expect(stderr()).toContain(`--repeat takes a whole number from 1 to 1000, not "${repeat}"`);
    expect(countRequests()).toBe(0);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('has its own answers in a replay', async () => {
    const project = new AnsweringProject(formatCase('repeat: 5\n    pass: 50%'), 'ynyny');
    const { cases: live } = await project.report('--record', 'recorded');
    const { cases: replayed } = await project.report('--replay', 'recorded');
    expect(replayed).toMatchObject([{ passed: 3, runs: 5, flaky: true }]);
    expect(live).toMatchObject([{ passed: 3, runs: 5, flaky: true }]);
    expect(countRequests()).toBe(5);
  });
});

describe('how often a case must pass', () => {
  it.each([
    { pass: '80%', answers: 'yyyyn', expectedExitCode: 0 },
    { pass: '80%', answers: 'yyynn', expectedExitCode: EXIT.runFailed },
    { pass: '60.5%', answers: 'yyynn', expectedExitCode: EXIT.runFailed },
    { pass: '0%', answers: 'nnnnn', expectedExitCode: 0 },
    { pass: '100%', answers: 'yyyyn', expectedExitCode: EXIT.runFailed },
    { pass: '4', answers: 'yyyyn', expectedExitCode: 0 },
  ])(
    'may be $pass: the answers $answers end with exit $expectedExitCode',
    async ({ pass, answers, expectedExitCode }) => {
      const { exitCode } = await new AnsweringProject(
        formatCase(`repeat: 5\n    pass: ${pass}`),
        answers,
      ).test();
      expect(exitCode).toBe(expectedExitCode);
    },
  );

  it('may stand above the cases', async () => {
    const cases = `${formatCase('repeat: 2')}${formatCase('repeat: 2\n    pass: 2')}`;
    const { cases: results } = await new AnsweringProject(cases, 'yn', 'pass: 50%\n').report();
    expect(results).toMatchObject([
      { status: 'passed', pass: '50%' },
      { status: 'failed', pass: 2 },
    ]);
  });

  it.each(['101%', '-1%', '80 %', '%', 'most', '0', '1.5', '80%!'])('is not %s', async pass => {
    const { exitCode, stderr } = await new AnsweringProject(
      formatCase(`repeat: 5\n    pass: "${pass}"`),
      'y',
    ).test();
    expect(stderr()).toMatch(/ask\.test\.yaml.*pass must be a/u);
    expect(countRequests()).toBe(0);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('may not be more often than the case runs', async () => {
    const project = new AnsweringProject(formatCase('repeat: 5\n    pass: 4'), 'y');
    const { exitCode, stderr } = await project.test('--repeat', '3');
    expect(stderr()).toMatch(/ask\.test\.yaml.*pass \(4\) is more than repeat \(3\)/u);
    expect(countRequests()).toBe(0);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('test --sure', () => {
  const formatCaseOfRate = (pass: string): string => formatCase(`pass: ${pass}`);

  it('stops as soon as the answers decide', async () => {
    // 1/((n+1)·0.5ⁿ) is at least 20 from the eighth good answer on.
    const { cases } = await new AnsweringProject(formatCaseOfRate('50%'), 'y').report('--sure');
    expect(cases).toMatchObject([
      { status: 'passed', passed: 8, runs: 8, interval: [expect.any(Number), 1] },
    ]);
    expect(countRequests()).toBe(8);
  });

  it('fails a case as soon as its rate is surely too low', async () => {
    // Two bad answers rule out 90 %, and one does not.
    const { exitCode } = await new AnsweringProject(formatCaseOfRate('90%'), 'n').test('--sure');
    expect(countRequests()).toBe(2);
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('fails a case that must always pass at its first bad answer', async () => {
    const { cases } = await new AnsweringProject(formatCaseOfRate('100%'), 'yyyn').report('--sure');
    expect(cases).toMatchObject([{ status: 'failed', passed: 3, runs: 4 }]);
    expect(countRequests()).toBe(4);
  });

  it('needs only one answer if none has to pass', async () => {
    const { cases } = await new AnsweringProject(formatCaseOfRate('0%'), 'n').report(
      '--sure',
      '--concurrency',
      '8',
    );
    expect(cases).toMatchObject([{ status: 'passed', runs: 1 }]);
    expect(countRequests()).toBe(1);
  });

  it('reports a case that stays undecided as a separate kind of failure', async () => {
    const project = new AnsweringProject(formatCaseOfRate('80%'), 'yyyynyyyyn');
    const { stdout, exitCode } = await project.test('--sure', '--max-repeat', '10');

    expect(stdout()).toContain('UNDECIDED ask.test.yaml: says yes');
    expect(stdout()).toContain('8 of 10 (');
    expect(stdout()).toContain(
      '80 % needed; not enough runs to say: more than 10,000 more would probably decide',
    );
    expect(stdout()).toContain('0 passed, 0 failed, 1 undecided');
    expect(countRequests()).toBe(10);
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('reports a case that stays undecided as a failure in JUnit', async () => {
    const project = new AnsweringProject(formatCaseOfRate('80%'), 'yyyynyyyyn');
    const { stdout } = await project.test('--sure', '--max-repeat', '10', '--reporter', 'junit');
    expect(stdout()).toContain('failures="1" errors="0"');
    expect(stdout()).toContain('<failure message="not enough runs to say');
  });

  it('asks no more of an undecided case if the test resumes', async () => {
    const project = new AnsweringProject(formatCaseOfRate('80%'), 'yyyynyyyyn');
    const flags = ['--sure', '--max-repeat', '10'];
    await project.test(...flags);
    const { stdout } = await project.test(...flags, '--resume');
    expect(stdout()).toContain('UNDECIDED ask.test.yaml: says yes');
    expect(countRequests()).toBe(10);
  });

  it('says how many more runs would probably decide', async () => {
    const { stdout } = await new AnsweringProject(formatCaseOfRate('95%'), 'y').test('--sure');
    expect(stdout()).toContain('not enough runs to say: about 58 more would probably decide');
  });

  it('notes before anything is sent that the runs cannot show a rate', async () => {
    const project = new AnsweringProject(
      `${formatCaseOfRate('95%')}${formatCaseOfRate('80%')}`,
      'y',
    );
    const { stderr } = await runInProcess(['test', '--sure', '--dry-run'], {
      home: project.home,
      local: localService,
      env: { PROMPTRUN_DATA_DIR: path.join(project.home, 'data') },
    });

    expect(stderr()).toContain(
      "note: a rate of 95 % can't be shown: 100 good answers reach 92.6 %; it needs 158",
    );
    expect(stderr()).not.toContain('80 %');
    expect(countRequests()).toBe(0);
  });

  it('leaves cases without a rate as they are', async () => {
    const { cases } = await new AnsweringProject(
      formatCase('repeat: 3\n    pass: 2'),
      'yyn',
    ).report('--sure');
    expect(cases).toMatchObject([{ status: 'passed', runs: 3 }]);
  });

  it('resumes after it was stopped, and pays for no answer twice', async () => {
    const project = new AnsweringProject(formatCaseOfRate('50%'), 'y');
    const unauthorised = {
      status: 401,
      body: { error: { message: 'no such key', code: 'invalid_api_key' } },
    };
    provider.reset(chatAnswer('yes'), chatAnswer('yes'), chatAnswer('no'), unauthorised);
    const stopped = await project.test('--sure');

    expect(countRequests()).toBe(4);
    expect(stopped.exitCode).toBe(EXIT.unauthorised);

    provider.reset(chatAnswer('yes'));
    const { cases } = await project.report('--sure', '--resume');

    // One half is ruled out by eleven of twelve answers, and not yet by ten of eleven. Three were
    // there before.
    expect(cases).toMatchObject([{ status: 'passed', passed: 11, runs: 12 }]);
    expect(countRequests()).toBe(12 - 3);
  });

  it('counts no answer that comes after the decision', async () => {
    const { cases } = await new AnsweringProject(formatCaseOfRate('50%'), 'y').report(
      '--sure',
      '--concurrency',
      '8',
    );
    expect(cases).toMatchObject([{ passed: 8, runs: 8, status: 'passed' }]);
  });

  it('forecasts the most that it may cost', async () => {
    const { stdout } = await new AnsweringProject(formatCaseOfRate('80%'), 'y').test(
      '--sure',
      '--max-repeat',
      '7',
      '--dry-run',
      '--json',
    );
    expect(JSON.parse(stdout())).toMatchObject({ creations: 7 });
  });

  it('is required by --max-repeat', async () => {
    const { exitCode, stderr } = await new AnsweringProject(formatCaseOfRate('80%'), 'y').test(
      '--max-repeat',
      '7',
    );
    expect(stderr()).toContain('--max-repeat needs --sure');
    expect(exitCode).toBe(EXIT.usage);
  });
});
