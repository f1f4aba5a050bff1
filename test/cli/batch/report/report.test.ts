import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderReportPage } from '../../../../src/cli/batch/report/report-page.ts';
import { summarizeRows } from '../../../../src/cli/batch/report/reported-rows.ts';
import { parseResultsLine } from '../../../../src/cli/batch/results/results-line.ts';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Spending } from '../../../../src/cli/creation/spending/spending.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { Project } from '../../../support/project.ts';
import { startScriptedServiceForTest, success } from '../../../support/scripted-service.ts';
import { hasLinks, isPosix } from '../../../support/system.ts';

const LINES = [
  {
    row: 1,
    id: 'a',
    runId: 'r1',
    runStatus: 'succeeded',
    tokens: 3,
    seconds: 1.5,
    error: null,
    outputs: [{ type: 'text', data: '<script>alert(1)</script>' }],
    inputs: { textInputs: { name: '<b>Ada</b>' }, imageInputs: [] },
  },
  {
    row: 2,
    id: 'b',
    runId: null,
    runStatus: 'failed',
    tokens: 0,
    seconds: null,
    error: 'line 3: bad name (USAGE_ERROR)',
    outputs: [],
  },
  {
    row: 3,
    id: 'c',
    runId: null,
    runStatus: 'failed',
    tokens: 0,
    seconds: null,
    error: 'line 4: bad name (USAGE_ERROR)',
    outputs: [],
  },
  {
    row: 4,
    id: 'd',
    runId: 'r4',
    runStatus: 'failed',
    tokens: 1,
    seconds: 9,
    error: 'no (RUN_FAILED)',
    outputs: [{ type: 'error', data: 'no' }],
  },
];

function createProject(lines: readonly object[] = LINES): Project {
  return new Project({ 'results.jsonl': lines.map(line => `${JSON.stringify(line)}\n`).join('') });
}

describe('batch report', () => {
  it('shows totals, failures by reason and the slowest rows', async () => {
    const { exitCode, stdout } = await createProject().run([
      'batch',
      'report',
      'results.jsonl',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout())).toEqual({
      rows: 4,
      succeeded: 1,
      failed: 3,
      seconds: 10.5,
      runs: 2,
      tokens: 4,
      tokensUnknown: 0,
      credits: null,
      creditsUnknown: 2,
      cost: null,
      costUnknown: 2,
      estimated: false,
      models: [],
      failures: [
        { reason: 'bad name (USAGE_ERROR)', rows: 2, ids: ['b', 'c'] },
        { reason: 'no (RUN_FAILED)', rows: 1, ids: ['d'] },
      ],
      slowest: [
        { id: 'd', seconds: 9 },
        { id: 'a', seconds: 1.5 },
      ],
    });
  });

  it('prints tab-separated lines in a pipe, and sentences on a terminal', async () => {
    const argv = ['batch', 'report', 'results.jsonl'];
    expect((await createProject().run(argv)).stdout()).toContain(
      'failure\t2\tbad name (USAGE_ERROR)\tb,c\n',
    );
    const { stdout } = await createProject().run([...argv, '--no-color'], {
      terminal: { stdout: true },
    });
    expect(stdout()).toContain('4 rows: 1 succeeded, 3 failed; 10.5 s of run time\n');
    expect(stdout()).toContain('2 runs took 4 tokens, credits unknown\n');
  });

  it('prints the page in place of the totals with --html -', async () => {
    const { exitCode, stdout, stderr } = await createProject().run([
      'batch',
      'report',
      'results.jsonl',
      '--html',
      '-',
    ]);

    expect(stdout()).toMatch(/^<!doctype html>[^]*<\/html>\n$/u);
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('refuses --html - with --json, since both print to standard output', async () => {
    const { exitCode, stdout } = await createProject().run([
      'batch',
      'report',
      'results.jsonl',
      '--html',
      '-',
      '--json',
    ]);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('asks the list for credits that the file lacks, those of earlier runs included', async () => {
    const [first] = LINES;
    const lines = [
      { ...first, credits: 2, cost: null },
      { ...first, row: 2, id: 'b', runId: 'r2', credits: null, earlierRunIds: ['r0', 'gone'] },
    ];
    const service = await startScriptedServiceForTest({
      expect: { method: 'GET', path: '/runs', query: { limit: '50' } },
      answer: success({
        rows: [
          { runId: 'r2', runStatus: 'succeeded', credits: 3 },
          { runId: 'r0', runStatus: 'failed', credits: null },
        ],
        hasMore: false,
      }),
    });
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };
    const argv = ['batch', 'report', 'results.jsonl', '--json'];
    const { stdout } = await createProject(lines).run(argv, { env });

    expect(JSON.parse(stdout())).toMatchObject({
      rows: 2,
      runs: 4,
      credits: 5,
      creditsUnknown: 1,
      tokens: 6,
    });
  });

  it('shows tokens and cost of the embedded service by model', async () => {
    const project = new Project({ 'rows.csv': 'name\nAda\nBob\n' });
    await project.run(['batch', 'hello', '--from', 'rows.csv', '--out', 'r.jsonl']);
    const { stdout } = await project.run(['batch', 'report', 'r.jsonl', '--json']);
    const spent = {
      runs: 2,
      credits: 2,
      creditsUnknown: 0,
      cost: 0,
      costUnknown: 0,
      estimated: false,
    };

    expect(JSON.parse(stdout())).toMatchObject({ ...spent, models: [{ ...spent, model: 'echo' }] });

    await project.run(['batch', 'report', 'r.jsonl', '--html', 'report.html']);
    const page = readFileSync(path.join(project.home, 'report.html'), 'utf8');

    expect(page).toContain('2 runs took 18 tokens, $0.00');
    expect(page).not.toContain('credits');
  });

  describe('of a batch that has not ended', () => {
    const BATCH = ['batch', 'hello', '--from', 'rows.csv', '--out', 'r.jsonl'];
    const REPORT = ['batch', 'report', 'r.jsonl'];

    /** Returns a project with the results of two of three rows. */
    async function createUnfinishedBatch(): Promise<Project> {
      const project = new Project({ 'rows.csv': 'name\nAda\nBob\nEve\n' });
      await project.run([...BATCH, '--max-credits', '2']);
      return project;
    }

    /** Appends the beginning of a result, as a process does that dies while it writes. */
    function appendTornLine({ home }: Project, row: number): void {
      appendFileSync(path.join(home, 'r.jsonl'), `{"row":${row},"id":"${row}","ru`);
    }

    it('prints a line with how many rows are done', async () => {
      const { stdout } = await (await createUnfinishedBatch()).run(REPORT);
      expect(stdout()).toContain('unfinished\t2 of 3 rows are done\n');
    });

    it('has in JSON how many rows are done', async () => {
      const { stdout } = await (await createUnfinishedBatch()).run([...REPORT, '--json']);
      expect(JSON.parse(stdout())).toMatchObject({ unfinished: { done: 2, of: 3 }, rows: 2 });
    });

    it('says on a terminal and on the page how many rows are done', async () => {
      const project = await createUnfinishedBatch();
      const { stdout } = await project.run([...REPORT, '--no-color', '--html', 'report.html'], {
        terminal: { stdout: true },
      });
      const page = readFileSync(path.join(project.home, 'report.html'), 'utf8');
      expect(stdout()).toContain('2 of 3 rows are done\n2 rows: 2 succeeded');
      expect(page).toContain('2 of 3 rows are done');
    });

    it('does not count a line that was only partly written', async () => {
      const project = await createUnfinishedBatch();
      appendTornLine(project, 3);
      const { stdout } = await project.run(REPORT);
      expect(stdout()).toContain('unfinished\t2 of 3 rows are done\n');
    });

    it('says nothing about it once --resume has run the rest', async () => {
      const project = await createUnfinishedBatch();
      await project.run([...BATCH, '--resume']);
      const { stdout } = await project.run(REPORT);
      expect(stdout()).toContain('succeeded\t3\n');
      expect(stdout()).not.toContain('unfinished');
    });

    it('refuses a line that was only partly written if the batch has ended', async () => {
      const project = await createUnfinishedBatch();
      await project.run([...BATCH, '--resume']);
      appendTornLine(project, 4);
      expect((await project.run(REPORT)).exitCode).toBe(EXIT.usage);
    });
  });

  it('makes a page that shows answers as text, and loads nothing', async () => {
    const project = createProject();
    await project.run(['batch', 'report', 'results.jsonl', '--html', 'report.html']);
    const page = readFileSync(path.join(project.home, 'report.html'), 'utf8');

    expect(page).toContain("default-src 'none'");
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('&lt;b&gt;Ada&lt;/b&gt;');
    expect(page).not.toMatch(/<script>alert|<b>Ada|(?:src|href)="(?!data:)/u);
    expect(page.match(/data-state="failed"/gu)).toHaveLength(3);
  });

  it('shows the images that --save saved', async () => {
    const project = new Project({ 'rows.csv': 'place\nOslo\n' });
    const batch = [
      'batch',
      'postcard',
      '--from',
      'rows.csv',
      '--out',
      'r.jsonl',
      '--save',
      'pictures',
    ];

    expect((await project.run(batch)).exitCode).toBe(0);

    await project.run(['batch', 'report', 'r.jsonl', '--html', 'report.html']);
    const page = readFileSync(path.join(project.home, 'report.html'), 'utf8');

    expect(page).toContain('<img alt="" src="data:image/png;base64,');
  });

  it.each([
    ['missing.jsonl', 'missing.jsonl does not exist'],
    ['results.csv', 'Give --out results.jsonl to the next batch'],
    ['rows.jsonl', 'rows.jsonl:1: this is not a result of a batch'],
  ])('refuses %s', async (file, message) => {
    const project = new Project({ 'results.csv': 'a\n', 'rows.jsonl': '{"name":"Ada"}\n' });
    const { exitCode, stderr } = await project.run(['batch', 'report', file]);
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('leaves `batch` as it is, which reports a missing --from', async () => {
    const { exitCode, stderr } = await createProject().run(['batch', 'hello']);
    expect(stderr()).toContain('--from is missing');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('a saved image on a page', () => {
  const PIXEL = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  it.runIf(hasLinks)(
    'is only taken from below the folder of the results, by its real path',
    async () => {
      const refusedPaths = ['../private.png', 'link.png', 'linked/private.png', 'gone.png'];
      const project = new Project({
        'work/results.jsonl': ['in/a.png', ...refusedPaths]
          .map((savedTo, index) => ({
            ...LINES[0],
            row: index + 1,
            id: String(index),
            outputs: [{ type: 'image', data: 'https://example.com/x', savedTo }],
          }))
          .map(line => `${JSON.stringify(line)}\n`)
          .join(''),
      });
      const resolveInProject = (name: string): string => path.join(project.home, name);
      mkdirSync(resolveInProject('work/in'));

      for (const name of ['private.png', 'work/in/a.png', 'gone.png']) {
        writeFileSync(resolveInProject(name), PIXEL);
      }

      symlinkSync(resolveInProject('private.png'), resolveInProject('work/link.png'));
      symlinkSync(project.home, resolveInProject('work/linked'));
      const { exitCode, stderr } = await runInProcess(
        ['batch', 'report', 'work/results.jsonl', '--html', 'page.html'],
        { home: project.home, local: localService },
      );

      expect(exitCode).toBe(0);
      expect(
        readFileSync(resolveInProject('page.html'), 'utf8').match(/data:image\/png/gu),
      ).toHaveLength(1);
      expect(stderr()).toContain(refusedPaths.join(', '));
    },
  );

  it.runIf(isPosix)('is left out if it is on another computer, without any look-up', async () => {
    const sharedImage = '\\\\server\\share.png';
    const project = new Project({});
    const text = JSON.stringify({
      ...LINES[0],
      outputs: [{ type: 'image', data: 'x', savedTo: sharedImage }],
    });
    const rows = [parseResultsLine(text)].filter(row => row !== undefined);

    // On this system it is the name of a file, which a look-up would find.
    writeFileSync(path.join(project.home, sharedImage), PIXEL);
    const { platform } = process;
    Object.defineProperty(process, 'platform', { value: 'win32' });
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
    const { html, omittedPaths } = await renderReportPage(
      rows,
      summarizeRows(rows, new Spending().computeTotals(), undefined),
      {
        title: 'results',
        folder: project.home,
      },
    );

    expect(rows).toHaveLength(1);
    expect(omittedPaths).toEqual([sharedImage]);
    expect(html).not.toContain('data:image/png');
  });
});
