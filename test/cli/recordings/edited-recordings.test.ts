import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { removeDirectory, runInProcess } from '../../support/context.ts';
import { createEchoProject, Project } from '../../support/project.ts';
import { VERSION } from '../commands/run/run-against-service.ts';
import { CASES, listFilesBelow } from './recorded-cases.ts';

describe('edited or damaged recordings', () => {
  /** Holds a recording that is made once; each test damages a copy. */
  const original = mkdtempSync(path.join(tmpdir(), 'promptrun-recorded-'));
  beforeAll(async () => {
    const argv = ['-q', 'run', 'postcard', '-i', 'place=Oslo', '--record', 'rec'];
    await runInProcess(argv, { home: original, local: localService });
  });
  afterAll(() => removeDirectory(original));

  function recorded(): { project: Project; file: string; content: string } {
    const project = new Project({ 'secret.txt': 'a secret', 'rows.csv': 'place\nOslo\n' });
    cpSync(path.join(original, 'rec'), path.join(project.home, 'rec'), { recursive: true });
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    return { project, file, content: readFileSync(path.join(project.home, file), 'utf8') };
  }

  it.each([
    ['a path out of the folder', /"sha256": "[^"]+"/u, '"sha256": "../../secret.txt"', 'SHA-256'],
    ['a digest in capitals', /"sha256": "[^"]+"/u, `"sha256": "${'A'.repeat(64)}"`, 'SHA-256'],
    ['another digest', /"sha256": "[^"]+"/u, `"sha256": "${'0'.repeat(64)}"`, 'does not exist'],
    ['tokens that are a page', /"tokens": \d+/u, '"tokens": "<script>"', 'tokens is not a count'],
    [
      'outputs that are a text',
      /"outputs": \[/u,
      '"outputs": "", "rest": [',
      'outputs is not a list',
    ],
    ['a type that is a number', /"type": "image"/u, '"type": 1', 'type is not text'],
    [
      'a status that is a list',
      /"runStatus": "succeeded"/u,
      '"runStatus": []',
      'runStatus is not text',
    ],
    [
      'too many levels',
      /"data": \{/u,
      `"deep": ${'['.repeat(600)}${']'.repeat(600)}, "data": {`,
      'has more than 510 levels',
    ],
    [
      'too many values',
      /"data": \{/u,
      `"wide": [${'[],'.repeat(2e6)}1], "data": {`,
      'holds more than 2,000,000 values',
    ],
  ])('are refused if they hold %s', async (_, pattern, replacement, message) => {
    const { project, file, content } = recorded();
    project.write(file, content.replace(pattern, replacement));
    const run = ['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec', '--save', 'out'];
    const batch = [
      'batch',
      'postcard',
      '--from',
      'rows.csv',
      '--replay',
      'rec',
      '--out',
      'out.jsonl',
    ];

    for (const argv of [run, batch]) {
      const { exitCode, stdout, stderr } = await project.run(argv);
      expect(stdout()).toBe('');
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toContain(message);
      expect(stderr()).toContain(path.basename(file));
    }

    expect(readdirSync(project.home)).not.toContain('out');
  });

  it.each([
    ['tokens', /"tokens": \d+/u],
    ['data', /"data": "[^"]*"/u],
    ['type', /"type": "text"/u],
  ])('are replayed if %s of an answer is null', async (field, pattern) => {
    const project = new Project({});
    const run = ['run', 'hello', '-i', 'name=Ada', '--json'];
    await project.run([...run, '--record', 'rec']);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const content = readFileSync(path.join(project.home, file), 'utf8');
    project.write(file, content.replace(pattern, `"${field}": null`));
    const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);

    expect(stdout()).toContain(`"${field}": null`);
    expect(exitCode).toBe(0);
  });

  it('are refused if the bytes of a medium do not match its name', async () => {
    const { project } = recorded();
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'media'));
    project.write(path.join('rec', 'media', name), 'a page');
    const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);

    expect(run.stderr()).toContain('contains something else');
    expect(run.exitCode).toBe(EXIT.usage);
  });

  it('are refused if a medium is larger than the limit', async () => {
    const { project } = recorded();
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'media'));
    truncateSync(path.join(project.home, 'rec', 'media', name), 2 ** 36);
    const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);

    expect(run.stderr()).toContain('larger than 256 MiB');
    expect(run.exitCode).toBe(EXIT.usage);
  });

  it('are not reported as the source of answers if one of them is damaged', async () => {
    const project = createEchoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    project.write(path.join('rec', 'runs', name), '{');
    const { exitCode, stderr } = await project.run(['test', '--replay', 'rec']);
    expect(stderr()).toContain('is damaged');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).not.toContain('answered from recordings');
  });

  it('are judged by the cost that they hold, which must be an amount', async () => {
    const project = createEchoProject('  - { inputs: { text: a }, expect: [{ cost: 0.1 }] }\n');
    expect((await project.run(['test', '--record', 'rec'])).exitCode).toBe(0);
    expect((await project.run(['test', '--replay', 'rec'])).exitCode).toBe(0);

    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const recording = JSON.parse(readFileSync(path.join(project.home, file), 'utf8')) as object;
    project.write(file, JSON.stringify({ ...recording, cost: 0.2 }));
    const dearer = await project.run(['test', '--replay', 'rec']);

    expect(dearer.stdout()).toContain('0.2');
    expect(dearer.exitCode).toBe(EXIT.runFailed);

    project.write(file, JSON.stringify({ ...recording, cost: 'free' }));
    const damaged = await project.run(['test', '--replay', 'rec']);

    expect(damaged.stderr()).toContain('cost is not an amount');
    expect(damaged.exitCode).toBe(EXIT.usage);
  });

  it.each(['cost', 'fault', 'notKept'])(
    'are replayed if %s is null, as if it were missing',
    async field => {
      const project = new Project({});
      const run = ['run', 'hello', '-i', 'name=Ada'];
      const recorded = await project.run([...run, '--record', 'rec']);
      const [name = ''] = listFilesBelow(path.join(project.home, 'rec', 'runs'));
      const file = path.join('rec', 'runs', name);
      const content = JSON.parse(readFileSync(path.join(project.home, file), 'utf8')) as object;
      project.write(file, JSON.stringify({ ...content, [field]: null }));
      const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);

      expect(stdout()).toBe(recorded.stdout());
      expect(exitCode).toBe(0);
    },
  );

  describe('of the prompts that a service listed', () => {
    const ANSWER = path.join('rec', 'answers', 'one.json');

    /** Replays a batch after one field of the recorded list was edited. */
    async function replayEditedList(edited: Readonly<Record<string, unknown>>) {
      const project = new Project({ 'rows.csv': 'name\nAda\n' });
      const batch = ['batch', 'hello', '--from', 'rows.csv', '--out'];
      const recorded = await project.run([...batch, 'one.jsonl', '--record', 'rec']);
      expect(recorded.exitCode).toBe(0);

      const ids = { promptId: VERSION, promptVersionId: VERSION };
      const row = { ...ids, slug: 'hello', title: 'Hello', uses: 1, ...edited };
      const body = { status: 'SUCCESS', data: { rows: [row] } };
      project.write(ANSWER, JSON.stringify({ httpStatus: 200, body }));
      const replayed = await project.run([...batch, 'two.jsonl', '--replay', 'rec']);
      return { ...replayed, hasResults: existsSync(path.join(project.home, 'two.jsonl')) };
    }

    it.each([
      [{ slug: 1 }, 'slug is not text'],
      [{ uses: 'many' }, 'uses is not a count'],
    ])('are refused before any row if they are damaged: %j', async (edited, fault) => {
      const { exitCode, stderr, home, hasResults } = await replayEditedList(edited);
      expect(stderr()).toContain(
        `${path.join(home, ANSWER)} is damaged: body.data.rows[0].${fault}`,
      );
      expect(exitCode).toBe(EXIT.usage);
      expect(hasResults).toBe(false);
    });

    it('are taken without a title', async () => {
      const { exitCode, hasResults } = await replayEditedList({ title: null });
      expect(exitCode).toBe(0);
      expect(hasResults).toBe(true);
    });
  });
});
