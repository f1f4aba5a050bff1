import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { runInProcess } from '../../support/context.ts';
import { ECHO, Project } from '../../support/project.ts';
import { chatAnswer, FakeProvider } from '../../support/providers/fake-provider.ts';
import {
  failure,
  startScriptedService,
  success,
  versionLookup,
} from '../../support/scripted-service.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';
import { hasGit } from '../../support/system.ts';

const ROWS = 'id,text\none,hello\ntwo,"<script>alert(1)</script>"\n';
/** The same prompt, with an exclamation mark after `hello`. */
const SHOUTING = ECHO.replace('{{text}}', '{{text}}{{#ifEquals text "hello"}}!{{/ifEquals}}');

function createProject(): Project {
  return new Project({ 'a.prompt': ECHO, 'b.prompt': SHOUTING, 'rows.csv': ROWS });
}

const COMPARE = ['compare', 'a.prompt', 'b.prompt', '--from', 'rows.csv'];

describe('compare', () => {
  it('shows what is the same and what changed, one line per row', async () => {
    const { exitCode, stdout } = await createProject().run(COMPARE);
    const lines = stdout()
      .trim()
      .split('\n')
      .map(line => line.split('\t'));

    expect(lines.map(line => line.slice(0, 3))).toEqual([
      ['1', 'one', 'changed'],
      ['2', 'two', 'same'],
    ]);
    expect(lines[0]).toHaveLength(13);
    expect(lines[0]?.[7]).toMatch(/^\d+$/u);
    expect(exitCode).toBe(0);
  });

  it('takes the inputs of one row in place of --from, and needs one or the other', async () => {
    const { exitCode, stdout } = await createProject().run([
      'compare',
      'a.prompt',
      'b.prompt',
      '-i',
      'text=hello',
    ]);
    expect(stdout().trim().split('\n')).toEqual([expect.stringMatching(/^1\t1\tchanged\t/u)]);
    expect(exitCode).toBe(0);
    const withoutInputs = await createProject().run(['compare', 'a.prompt', 'b.prompt']);
    expect(withoutInputs.stderr()).toContain('Give --from <file>');
    expect(withoutInputs.exitCode).toBe(EXIT.usage);
  });

  it('records the answers of earlier runs, too, if it is resumed', async () => {
    const comparison = createProject();
    const first = await comparison.run([...COMPARE, '--json']);
    const resumed = await comparison.run([...COMPARE, '--json', '--resume', '--record', 'rec']);
    const replayed = await comparison.run([...COMPARE, '--json', '--replay', 'rec']);

    const readReportedRuns = ({ stdout }: typeof first): unknown[] =>
      (JSON.parse(stdout()) as { results: { runId: string; outputs: unknown }[] }[]).flatMap(
        ({ results }) => results.map(({ runId, outputs }) => [runId, outputs]),
      );

    expect(readReportedRuns(first)).toHaveLength(4);
    expect(readReportedRuns(resumed)).toEqual(readReportedRuns(first));
    expect(readReportedRuns(replayed)).toEqual(readReportedRuns(first));
    expect(replayed.exitCode).toBe(0);
  });

  it('records nothing for an earlier run that the service no longer has', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const version = (id: string) => ({ ...versionLookup(id), times: 'any' as const });
    const service = await startScriptedService(
      [
        version(first),
        version(second),
        {
          expect: { method: 'POST', path: '/runs' },
          answer: () =>
            success({ runId: randomUUID(), outputs: [], runStatus: 'succeeded', tokens: 1 }),
          times: 2,
        },
        {
          expect: { method: 'GET', path: /^\/runs\// },
          answer: failure(404, 'NOT_FOUND', 'the run does not exist'),
          times: 'any',
        },
        { expect: { path: '/runs' }, answer: success({ rows: [], hasMore: false }), times: 'any' },
      ],
      { isOrdered: false },
    );
    onTestFinished(() => service.close());

    const comparison = new Project({});
    const compare = (...flags: string[]) =>
      comparison.run(['compare', first, second, '-i', 'text=hello', ...flags], {
        env: buildServiceEnv(service.baseUrl),
      });

    expect((await compare()).exitCode).toBe(0);
    expect((await compare('--resume', '--record', 'rec')).exitCode).toBe(0);

    const replayed = await compare('--replay', 'rec', '--json');
    expect(replayed.stdout()).toContain('is not recorded in');
    expect(replayed.exitCode).toBe(EXIT.usage);
  });

  it('prints each row as JSON, with the time and cost of every run', async () => {
    const { stdout } = await createProject().run([...COMPARE, '--json']);
    const rows = JSON.parse(stdout()) as {
      id: string;
      results: { target: string; credits: number }[];
    }[];
    expect(rows.map(({ id }) => id)).toEqual(['one', 'two']);
    expect(rows[0]?.results.map(({ target, credits }) => [target, credits])).toEqual([
      ['a.prompt', 1],
      ['b.prompt', 1],
    ]);
  });

  it.each([
    [
      100,
      /^one +changed {2}\d\.\d s, \d+ tokens, 1 credit, \$0\.00 +\d\.\d s.*\n +hello +hello\{\+!\+\}$/mu,
    ],
    [50, /^one +changed {2}a\.prompt\n.*\n +hello\n +b\.prompt\n.*\n +hello\{\+!\+\}$/mu],
  ])('shows a grid with the differing words on a terminal of %i columns', async (columns, row) => {
    const { stdout } = await createProject().run([...COMPARE, '--no-color', '--no-pager'], {
      terminal: { stdout: true },
      columns,
    });
    expect(stdout()).toMatch(row);
    expect(stdout()).toMatch(/^all +(?:a\.prompt\n +)?2 succeeded, 0 failed/mu);
  });

  it.each([
    [['--fail-on', 'changed'], EXIT.runFailed],
    [['--fail-on', 'failed'], 0],
  ])('exits according to %j', async (flags, expectedExitCode) => {
    expect((await createProject().run([...COMPARE, ...flags])).exitCode).toBe(expectedExitCode);
  });

  it('counts a failed run as failed, and exits with 5 for --fail-on failed', async () => {
    const files = { 'rows.jsonl': '{"note":"a"}\n' };
    const compare = [
      'compare',
      'sandbox',
      'sandbox',
      '--from',
      'rows.jsonl',
      '-o',
      'outcome=failed',
    ];

    const { stdout, stderr, exitCode } = await new Project(files).run([
      ...compare,
      '--fail-on',
      'failed',
    ]);
    expect(stdout().split('\t')[2]).toBe('failed');
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stderr()).toMatch(/^error: row 1 \(sandbox\): .*outcome=failed.* \(RUN_FAILED\)$/mu);
  });

  it('shows a failed answer on a terminal without differences from the first', async () => {
    const jsonPrompt = ECHO.replace('---\n', '---\noutput: {format: json}\n');
    const files = { 'a.prompt': SHOUTING, 'b.prompt': jsonPrompt };
    const compare = [
      'compare',
      'a.prompt',
      'b.prompt',
      '-i',
      'text=hello',
      '--no-color',
      '--no-pager',
    ];
    const { stdout, stderr } = await new Project(files).run(compare, {
      terminal: { stdout: true },
      columns: 200,
    });

    expect(stdout()).toMatch(/ hello! +hello\n/u);
    expect(stdout()).toContain('error: ');
    expect(stderr()).not.toContain('error: row');
  });

  it('includes failed runs in the tokens, and reports how many runs have an unknown number', async () => {
    const provider = await FakeProvider.start();
    onTestFinished(() => provider.close());
    provider.reset(chatAnswer('Hi'), chatAnswer('Once upon', { finish_reason: 'length' }), {
      body: 'garbage',
    });
    const entry = (model: string): string =>
      `  - {model: ${model}, modality: text, provider: here}\n`;
    const comparison = new Project({
      'data/models.yaml': `providers:\n  here: {baseUrl: "${provider.baseUrl}"}\nmodels:\n${['m1', 'm2', 'm3'].map(entry).join('')}`,
      'a.prompt': ECHO,
    });
    const models = ['-m', 'm1,m2,m3', '-i', 'text=hello', '--concurrency', '1'];
    const compare = ['compare', 'a.prompt', ...models, '--json'];
    const { stderr, stdout } = await runInProcess(compare, {
      home: comparison.home,
      local: localService,
      env: { PROMPTRUN_DATA_DIR: path.join(comparison.home, 'data') },
    });

    expect(stderr()).toContain('note: 3 runs took 84 tokens (unknown for 1), cost unknown\n');

    const [row] = JSON.parse(stdout()) as { results: { tokens: number }[] }[];
    expect(row?.results.map(({ tokens }) => tokens)).toEqual([42, 42, 0]);

    provider.reset({ body: 'garbage' }, { body: 'garbage' });
    const withoutTokens = await runInProcess(
      [...compare.slice(0, 2), '-m', 'm1,m2', '-i', 'text=hello'],
      {
        home: comparison.home,
        local: localService,
        env: { PROMPTRUN_DATA_DIR: path.join(comparison.home, 'data') },
      },
    );

    expect(withoutTokens.stderr()).toContain(
      'note: 2 runs took an unknown number of tokens, cost unknown\n',
    );
  });

  it('names the run that an unanswered creation may have made', async () => {
    const versionId = randomUUID();
    const runId = randomUUID();
    const row = {
      runId,
      promptVersionId: versionId,
      outputs: [],
      runStatus: 'running',
      credits: null,
    };

    const facts = {
      promptVersionId: versionId,
      promptId: randomUUID(),
      title: 't',
      publishedAt: '',
    };

    const service = await startScriptedService(
      [
        {
          expect: { path: `/prompt-versions/${versionId}` },
          answer: success({ ...facts, config: {} }),
          times: 'any',
        },
        { expect: { method: 'POST', path: '/runs' }, answer: 'reset-after-body', times: 'any' },
        {
          expect: { method: 'GET', path: '/runs' },
          answer: () =>
            success({
              rows: [{ ...row, runName: '', createdAt: new Date().toISOString() }],
              hasMore: false,
            }),
          times: 'any',
        },
      ],
      { isOrdered: false },
    );
    onTestFinished(() => service.close());
    const { exitCode, stderr } = await runInProcess(
      ['compare', versionId, versionId, '-i', 'text=hello'],
      {
        env: buildServiceEnv(service.baseUrl),
      },
    );

    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toContain('note: 0 same, 0 changed, 1 failed, 1 of them in doubt\n');
    expect(stderr()).toContain(`error: row 1 (${versionId}): the answer to the creation was lost`);
    expect(stderr()).toContain(`promptrun runs wait ${runId}`);
  });

  it('compares pictures by their bytes, and runs a prompt with several models', async () => {
    const files = { 'rows.csv': 'place\nOslo\n' };
    const { stdout } = await new Project(files).run([
      'compare',
      'postcard',
      'postcard',
      '--from',
      'rows.csv',
    ]);

    expect(stdout().split('\t')[2]).toBe('same');

    const models = ['compare', 'postcard', '-m', 'card,echo', '--from', 'rows.csv', '--json'];
    const [row] = JSON.parse((await new Project(files).run(models)).stdout()) as [
      { verdict: string; results: { model: string }[] },
    ];

    expect([row.verdict, row.results.map(({ model }) => model)]).toEqual([
      'changed',
      ['card', 'echo'],
    ]);
  });

  it.runIf(hasGit)('compares a file with an earlier revision, and publishes neither', async () => {
    const project = createProject();
    const runGit = (...args: string[]): void => {
      const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
      execFileSync('git', [...identity, ...args], { cwd: project.home, stdio: 'ignore' });
    };

    runGit('init', '-q');
    runGit('add', 'a.prompt');
    runGit('commit', '-qm', 'one');
    project.write('a.prompt', SHOUTING);
    const compare = ['compare', 'a.prompt@git:HEAD', 'a.prompt', '--from', 'rows.csv'];
    const { stdout, exitCode } = await project.run(compare);

    expect(
      stdout()
        .split('\n')
        .map(line => line.split('\t')[2]),
    ).toEqual(['changed', 'same', undefined]);
    expect(exitCode).toBe(0);

    expect((await project.run(['run', 'a', '-i', 'text=x'])).exitCode).toBe(EXIT.notFound);

    const invalidRevision = await project.run([
      'compare',
      'a.prompt@git:--upload-pack=x',
      'a.prompt',
      '--from',
      'rows.csv',
    ]);
    expect(invalidRevision.stderr()).toContain('a.prompt@git:--upload-pack=x');
    expect(invalidRevision.exitCode).toBe(EXIT.usage);
  });

  it('writes a page that loads nothing and shows answers as text', async () => {
    const project = createProject();
    await project.run([...COMPARE, '--report', 'compare.html']);
    const page = readFileSync(path.join(project.home, 'compare.html'), 'utf8');

    expect(page).toContain("default-src 'none'");
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('<ins>!</ins>');
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/u);
  });

  it('shows pictures side by side in the page', async () => {
    const project = new Project({ 'rows.csv': 'place\nOslo\n' });
    await project.run([
      'compare',
      'postcard',
      'postcard',
      '--from',
      'rows.csv',
      '--report',
      'page.html',
    ]);

    const page = readFileSync(path.join(project.home, 'page.html'), 'utf8');
    expect(page.match(/<img alt="" src="data:image\/png;base64,/gu)).toHaveLength(2);
  });

  it('prints the page in place of the rows with --report -', async () => {
    const project = createProject();
    const { exitCode, stdout } = await project.run([...COMPARE, '--report', '-']);

    expect(stdout()).toMatch(/^<!doctype html>[^]*<\/html>\n$/u);
    expect(exitCode).toBe(0);
    expect(existsSync(path.join(project.home, '-'))).toBe(false);

    const refused = await project.run([...COMPARE, '--report', '-', '--json']);
    expect(refused.stderr()).toContain("can't be used together");
    expect(refused.exitCode).toBe(EXIT.usage);
    expect(
      JSON.parse((await project.run(['runs', 'list', '--all', '--json'])).stdout()),
    ).toHaveLength(4);
  });

  it('needs no row for prompts without inputs', async () => {
    const project = new Project({
      'a.prompt': 'A joke, please.\n',
      'b.prompt': 'A story, please.\n',
    });
    const { exitCode, stdout } = await project.run(['compare', 'a.prompt', 'b.prompt']);
    expect(stdout()).toMatch(/^1\t1\tchanged\t[^\n]*\n$/u);
    expect(exitCode).toBe(0);
  });

  it.each([
    [['compare', 'a.prompt', '--from', 'rows.csv'], 'a comparison needs two sides'],
    [[...COMPARE, '--report', 'none/page.html'], 'no such directory'],
    [['compare', 'a.prompt', 'b.prompt', '--from', 'none.csv'], 'none.csv does not exist'],
    [
      ['compare', 'a.prompt', 'b.prompt', '--from', 'wrong.csv'],
      'wrong.csv:2: the prompt has no input "other"',
    ],
    [['compare', 'a.prompt', 'b.prompt'], 'compare needs a row of inputs'],
  ])('refuses %j before anything is sent', async (argv, message) => {
    const project = createProject();
    project.write('wrong.csv', 'text,other\na,b\n');
    const { exitCode, stderr } = await project.run(argv);
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
    // `compare` has no such flag, so no hint may name it.
    expect(stderr()).not.toContain('--no-validate');
    expect(JSON.parse((await project.run(['runs', 'list', '--json'])).stdout())).toEqual([]);
  });
});
