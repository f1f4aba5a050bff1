import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { type CommandResult, createTemporaryDirectory } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';
import { startScriptedServiceForTest, success } from '../../../support/scripted-service.ts';
import { hasLinks, isPosix } from '../../../support/system.ts';
import {
  creation,
  PROMPT,
  RUN,
  runAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from '../../commands/run/run-against-service.ts';

const CASES = 'cases:\n  - inputs: { text: a }\n    expect: [{ equals: b }]\n';

/** A repository with links that lead to a folder of its user's, which has one file. */
class Repository extends Project {
  readonly outside = createTemporaryDirectory();

  constructor(links: Readonly<Record<string, string>>) {
    super({ 'echo.prompt': ECHO, 'echo.test.yaml': CASES, 'rows.csv': 'name\nAda\nBo\n' });
    writeFileSync(path.join(this.outside, 'file'), "the user's own");
    for (const [link, target] of Object.entries(links)) {
      this.link(link, path.join(this.outside, target));
    }
  }

  link(name: string, target: string): void {
    const link = path.join(this.home, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(target, link);
  }

  get isOutsideTouched(): boolean {
    const content = readFileSync(path.join(this.outside, 'file'), 'utf8');
    return content !== "the user's own" || readdirSync(this.outside).length > 1;
  }

  /** Returns the number of runs. */
  async runs(): Promise<number> {
    const { stdout } = await this.run(['runs', 'list', '--json']);
    return (JSON.parse(stdout()) as unknown[]).length;
  }
}

function outcome({ exitCode, stdout, stderr }: CommandResult) {
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

const BATCH = ['batch', 'hello', '--from', 'rows.csv', '--out'];
const RUN_HELLO = ['run', 'hello', '-i', 'name=Ada'];

describe.runIf(hasLinks)('a link that a repository brings', () => {
  it.each<[link: string, argv: readonly string[]]>([
    ['rec/runs', [...RUN_HELLO, '--record', 'rec']],
    ['rec/media', [...RUN_HELLO, '--record', 'rec']],
    ['rec/answers', ['test', '--record', 'rec']],
    ['.claude', ['prompts', 'skill', 'hello']],
    ['.claude/skills', ['prompts', 'skill', 'hello']],
    ['.claude/skills/hello', ['prompts', 'skill', 'hello', '--force']],
    ['.claude/skills/hello/SKILL.md', ['prompts', 'skill', 'hello', '--force']],
    ['to/hello', ['prompts', 'skill', 'hello', '--to', 'to']],
    ['new.test.yaml', ['prompts', 'new', 'new']],
    ['new.test.yaml', ['prompts', 'new', 'new', '--force']],
    ['new.prompt', ['prompts', 'new', 'new', '--force']],
    ['results.jsonl', [...BATCH, 'results.jsonl']],
    ['results.jsonl', [...BATCH, 'results.jsonl', '--resume']],
    ['results.csv', [...BATCH, 'results.csv', '--resume']],
    ['results.jsonl.journal', [...BATCH, 'results.jsonl']],
    ['results.jsonl.journal', [...BATCH, 'results.jsonl', '--resume']],
    ['results.jsonl.lock', [...BATCH, 'results.jsonl']],
    ['report.html', ['compare', 'hello', 'hello', '--from', 'rows.csv', '--report', 'report.html']],
    ['junit.xml', ['test', '--reporter', 'junit', '--out', 'junit.xml']],
    ['state/journal.jsonl', RUN_HELLO],
    ['state/tests', ['test']],
  ])('%s stops %j before anything is sent', async (link, argv) => {
    for (const target of ['file', 'nothing', '.']) {
      const repository = new Repository({ [link]: target });
      const { exitCode, stdout, stderr } = outcome(await repository.run(argv));
      expect(stdout).toBe('');
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr).toMatch(new RegExp(`${path.basename(link)} is a (?:link|directory)`, 'u'));
      expect(repository.isOutsideTouched).toBe(false);
      rmSync(path.join(repository.home, link));
      expect(await repository.runs()).toBe(0);
    }
  });

  it.runIf(isPosix).each(['lock', 'journal'])(
    'or a pipe in the place of a %s stops a batch, which does not wait for it',
    async ending => {
      const repository = new Repository({});
      execFileSync('mkfifo', [path.join(repository.home, `results.jsonl.${ending}`)]);
      const ran = outcome(await repository.run([...BATCH, 'results.jsonl', '--resume']));
      const pipe = expect.stringContaining(`results.jsonl.${ending} is not a`) as string;
      expect(ran).toMatchObject({ exitCode: EXIT.usage, stderr: pipe });
      expect(await repository.runs()).toBe(0);
    },
  );

  it('in the place of a page stops batch report', async () => {
    const repository = new Repository({ 'page.html': 'file' });
    await repository.run([...BATCH, 'results.jsonl']);
    const { exitCode, stderr } = outcome(
      await repository.run(['batch', 'report', 'results.jsonl', '--html', 'page.html']),
    );
    expect(stderr).toContain('page.html is a link');
    expect(exitCode).toBe(EXIT.usage);
    expect(repository.isOutsideTouched).toBe(false);
  });

  it('in the place of a test file is not written through by --update, and stops it before anything is sent', async () => {
    const repository = new Repository({});
    rmSync(path.join(repository.home, 'echo.test.yaml'));
    repository.write('real.yaml', CASES);
    repository.link('echo.test.yaml', path.join(repository.home, 'real.yaml'));
    const ran = outcome(await repository.run(['test', 'echo.test.yaml', '--update']));

    expect(ran).toMatchObject({
      exitCode: EXIT.usage,
      stderr: expect.stringContaining('echo.test.yaml is a link') as string,
    });
    expect(readFileSync(path.join(repository.home, 'real.yaml'), 'utf8')).toBe(CASES);
    expect(await repository.runs()).toBe(0);
    expect((await repository.run(['test', 'echo.test.yaml'])).exitCode).toBe(EXIT.runFailed);
  });
});

describe.runIf(hasLinks)('a link that appears after the command has started', () => {
  it('in the place of a recorded picture leaves the run its output, and ends in 2', async () => {
    const repository = new Repository({});
    const argv = ['run', 'postcard', '-i', 'place=Oslo', '--record'];
    await repository.run([...argv, 'first']);

    const [picture = ''] = readdirSync(path.join(repository.home, 'first/media'));
    for (const target of ['file', 'nothing']) {
      rmSync(path.join(repository.home, 'rec'), { recursive: true, force: true });
      repository.link(`rec/media/${picture}`, path.join(repository.outside, target));
      const { exitCode, stdout, stderr } = outcome(await repository.run([...argv, 'rec']));
      expect(stdout).toMatch(/^file:.*\.png\n$/u);
      expect(stderr).toContain(`${picture} is a link`);
      expect(exitCode).toBe(EXIT.usage);
      expect(repository.isOutsideTouched).toBe(false);
    }
  });

  it('in the place of a recorded row fails that row alone, and the batch ends in 2', async () => {
    const repository = new Repository({});
    await repository.run([...BATCH, 'first.jsonl', '--record', 'first']);
    const [one = '', ...others] = readdirSync(path.join(repository.home, 'first/runs'));

    expect(others).toHaveLength(1);

    repository.link(`rec/runs/${one}`, path.join(repository.outside, 'nothing'));
    const { exitCode, stderr } = outcome(
      await repository.run([...BATCH, 'results.jsonl', '--record', 'rec']),
    );

    expect(stderr).toContain(`${one} is a link`);
    expect(exitCode).toBe(EXIT.usage);

    const lines = readFileSync(path.join(repository.home, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const ends = lines.map(
      line => (JSON.parse(line) as { runStatus: string; runId: unknown }).runStatus,
    );

    expect(ends.toSorted()).toEqual(['failed', 'succeeded']);
    expect(await repository.runs()).toBe(3);
    expect(repository.isOutsideTouched).toBe(false);
  });

  it.each([
    { name: '--save', flags: ['--save', 'saved'] },
    { name: '--save --force', flags: ['--save', 'saved', '--force'] },
  ])('in the place of an output ends in 2, with the output printed: $name', async ({ flags }) => {
    for (const name of [`${RUN}-1.txt`, `${RUN}.json`]) {
      const outside = createTemporaryDirectory();
      const home = createTemporaryDirectory();
      mkdirSync(path.join(home, 'saved'));
      symlinkSync(path.join(outside, 'new'), path.join(home, 'saved', name));
      const service = await startScriptedServiceForTest(creation());
      const argv = ['run', VERSION, '-i', 'name=Ada', ...flags];
      const ran = outcome(await runAgainst(service, argv, { home }));

      expect(ran).toMatchObject({ exitCode: EXIT.usage, stdout: 'Hello, Ada!\n' });
      expect(ran.stderr).toContain(`${name} is a link`);
      expect(readdirSync(outside)).toEqual([]);
    }
  });

  it('outranks a run that failed', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'saved'));
    symlinkSync('nothing', path.join(home, `saved/${RUN}.json`));
    const service = await startScriptedServiceForTest(
      creation(succeededRun({ runStatus: 'failed', outputs: [textOutput('half')] })),
    );
    const argv = ['run', VERSION, '-i', 'name=Ada', '--save', 'saved'];

    expect((await runAgainst(service, argv, { home })).exitCode).toBe(EXIT.usage);
  });

  it("in the place of a row's output does not stop the batch, which exits with 2", async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'saved'));
    writeFileSync(path.join(home, 'rows.csv'), 'name\nAda\nBo\n');
    symlinkSync('nothing', path.join(home, `saved/${RUN}-1.txt`));
    const other = '6f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a66';
    const version = {
      promptVersionId: VERSION,
      promptId: PROMPT,
      title: 'x',
      publishedAt: '2026-05-01T00:00:00Z',
    };

    const service = await startScriptedServiceForTest(
      {
        expect: { path: `/prompt-versions/${VERSION}` },
        answer: success({ ...version, config: { textInputs: { name: {} } } }),
      },
      creation(),
      creation(succeededRun({ runId: other })),
      { expect: { path: '/runs' }, answer: success({ rows: [], hasMore: false }) },
    );

    const argv = [
      'batch',
      VERSION,
      '--from',
      'rows.csv',
      '--out',
      'out.jsonl',
      '--save',
      'saved',
      '--concurrency',
      '1',
    ];
    const { exitCode, stderr } = outcome(await runAgainst(service, argv, { home }));

    expect(stderr).toContain(`${RUN}-1.txt is a link`);
    expect(exitCode).toBe(EXIT.usage);
    expect(readFileSync(path.join(home, 'out.jsonl'), 'utf8').trim().split('\n')).toHaveLength(2);
    expect(existsSync(path.join(home, `saved/${other}-1.txt`))).toBe(true);
  });
});

describe.runIf(hasLinks)('a link that the user has', () => {
  it('may be the folder that is named, and lead to it', async () => {
    const repository = new Repository({ way: '.' });
    mkdirSync(path.join(repository.outside, 'real'));
    repository.link('linked', 'way/real');

    for (const argv of [
      [...RUN_HELLO, '--record', 'linked'],
      [...RUN_HELLO, '--record', 'way/real/new'],
      [...RUN_HELLO, '--save', 'linked'],
      ['prompts', 'skill', 'hello', '--to', 'linked'],
      ['prompts', 'new', 'linked/new'],
      [...BATCH, 'linked/results.jsonl'],
      [...BATCH, 'linked/results.csv'],
      [
        'test',
        '--reporter',
        'json',
        '--out',
        'linked/report.json',
        '--filter',
        'none-of-them',
        '--dry-run',
      ],
    ]) {
      expect(outcome(await repository.run(argv)).exitCode, argv.join(' ')).toBe(0);
    }

    expect(readdirSync(path.join(repository.outside, 'real')).toSorted()).toEqual(
      expect.arrayContaining([
        'answers',
        'hello',
        'new',
        'new.prompt',
        'new.test.yaml',
        'results.csv',
        'results.jsonl',
        'runs',
      ]),
    );
    expect((await repository.run([...RUN_HELLO, '--replay', 'linked'])).exitCode).toBe(0);
  });

  it('may be the home directory, or lead to the folders of settings, state and data', async () => {
    const repository = new Repository({});
    for (const name of ['config', 'data', 'state']) {
      repository.link(name, mkdtempSync(path.join(repository.outside, 'own-')));
    }

    const linked = path.join(createTemporaryDirectory(), 'linked');
    symlinkSync(repository.home, linked);

    const runThere = async (argv: readonly string[]) =>
      (await repository.run(argv, { home: linked })).exitCode;
    expect(await runThere(RUN_HELLO)).toBe(0);
    expect(await runThere(['alias', 'set', 'hi', 'hello'])).toBe(0);
    expect(await runThere([...BATCH, 'results.jsonl'])).toBe(0);
    expect(await runThere(['test'])).toBe(EXIT.runFailed);
  });

  it.runIf(isPosix)('may lead to a device', async () => {
    const repository = new Repository({});
    repository.link('sink', '/dev/null');
    await repository.run([...BATCH, 'results.jsonl']);

    for (const argv of [
      ['batch', 'report', 'results.jsonl', '--html', 'sink'],
      ['compare', 'hello', 'hello', '--from', 'rows.csv', '--report', 'sink'],
    ]) {
      expect(outcome(await repository.run(argv)).exitCode, argv.join(' ')).toBe(0);
    }

    const { exitCode } = await repository.run(['test', '--reporter', 'junit', '--out', 'sink']);
    expect(exitCode).toBe(EXIT.runFailed);

    const { stdout } = await repository.run([
      'test',
      '--reporter',
      'junit',
      '--out',
      '/dev/stdout',
    ]);
    expect(stdout()).toContain('<testsuites');
  });
});
