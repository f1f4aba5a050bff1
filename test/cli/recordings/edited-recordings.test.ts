import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { RecordingDirectory } from '../../../src/cli/recordings/recording-directory.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, removeDirectory, runInProcess } from '../../support/context.ts';
import { createEchoProject, Project } from '../../support/project.ts';
import { hasLinks } from '../../support/system.ts';
import { VERSION } from '../commands/run/run-against-service.ts';
import { CASES } from './recorded-cases.ts';

describe('edited or damaged recordings', () => {
  /** Holds a recording that is made once; each test damages a copy. */
  const original = mkdtempSync(path.join(tmpdir(), 'promptrun-recorded-'));
  beforeAll(async () => {
    const argv = ['-q', 'run', 'postcard', '-i', 'place=Oslo', '--record', 'rec'];
    await runInProcess(argv, { home: original, local: localService });
  });
  afterAll(() => removeDirectory(original));

  /** Returns a project with a copy of the recording, and the content of its only run. */
  function copyRecording(): { project: Project; file: string; content: string } {
    const project = new Project({ 'secret.txt': 'a secret', 'rows.csv': 'place\nOslo\n' });
    cpSync(path.join(original, 'rec'), path.join(project.home, 'rec'), { recursive: true });
    const file = findRecordedRun(project);
    return { project, file, content: readFileSync(path.join(project.home, file), 'utf8') };
  }

  /** Returns the path of the first recorded run in a project. */
  function findRecordedRun({ home }: Project): string {
    const [name = ''] = readdirSync(path.join(home, 'rec', 'runs'));
    return path.join('rec', 'runs', name);
  }

  /** Returns the path of the first recorded medium in a project. */
  function findRecordedMedium({ home }: Project): string {
    const [name = ''] = readdirSync(path.join(home, 'rec', 'media'));
    return path.join('rec', 'media', name);
  }

  it.each([
    {
      name: 'a path out of the folder',
      recorded: /"sha256": "[^"]+"/u,
      edited: '"sha256": "../../secret.txt"',
      message: 'SHA-256',
    },
    {
      name: 'a digest in capitals',
      recorded: /"sha256": "[^"]+"/u,
      edited: `"sha256": "${'A'.repeat(64)}"`,
      message: 'SHA-256',
    },
    {
      name: 'another digest',
      recorded: /"sha256": "[^"]+"/u,
      edited: `"sha256": "${'0'.repeat(64)}"`,
      message: 'does not exist',
    },
    {
      name: 'tokens that are text',
      recorded: /"tokens": \d+/u,
      edited: '"tokens": "<script>"',
      message: 'tokens is not a count',
    },
    {
      name: 'outputs that are text',
      recorded: '"outputs": [',
      edited: '"outputs": "", "rest": [',
      message: 'outputs is not a list',
    },
    {
      name: 'a type that is a number',
      recorded: '"type": "image"',
      edited: '"type": 1',
      message: 'type is not text',
    },
    {
      name: 'a status that is a list',
      recorded: '"runStatus": "succeeded"',
      edited: '"runStatus": []',
      message: 'runStatus is not text',
    },
    {
      name: 'too many levels',
      recorded: '"data": {',
      edited: `"deep": ${'['.repeat(600)}${']'.repeat(600)}, "data": {`,
      message: 'has more than 510 levels',
    },
    {
      name: 'too many values',
      recorded: '"data": {',
      edited: `"wide": [${'[],'.repeat(2e6)}1], "data": {`,
      message: 'holds more than 2,000,000 values',
    },
  ])('are refused if they hold $name', async ({ recorded, edited, message }) => {
    const { project, file, content } = copyRecording();
    project.write(file, content.replace(recorded, edited));
    expect(readFileSync(path.join(project.home, file), 'utf8')).not.toBe(content);

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
    const file = findRecordedRun(project);
    const content = readFileSync(path.join(project.home, file), 'utf8');
    project.write(file, content.replace(pattern, `"${field}": null`));
    const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);

    expect(stdout()).toContain(`"${field}": null`);
    expect(exitCode).toBe(0);
  });

  it('are refused if the bytes of a medium do not match its name', async () => {
    const { project } = copyRecording();
    project.write(findRecordedMedium(project), 'other bytes');
    const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);

    expect(run.stderr()).toContain('contains something else');
    expect(run.exitCode).toBe(EXIT.usage);
  });

  it('are refused if a medium is larger than the limit', async () => {
    const { project } = copyRecording();
    truncateSync(path.join(project.home, findRecordedMedium(project)), 256 * 1024 * 1024 + 1);
    const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);

    expect(run.stderr()).toContain('larger than 256 MiB');
    expect(run.exitCode).toBe(EXIT.usage);
  });

  it('are refused if the media of one run are together larger than the limit', async () => {
    const { project, file, content } = copyRecording();
    const digests = ['a'.repeat(64), 'b'.repeat(64)];
    for (const digest of digests) {
      project.write(path.join('rec', 'media', digest), '');
      truncateSync(path.join(project.home, 'rec', 'media', digest), 200 * 1024 * 1024);
    }
    const media = digests.map(sha256 => ({
      url: `http://a.test/${sha256}`,
      sha256,
      contentType: null,
    }));
    project.write(file, JSON.stringify({ ...(JSON.parse(content) as object), media }));
    const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);

    expect(run.stderr()).toContain('its media are larger than 256 MiB');
    expect(run.exitCode).toBe(EXIT.usage);
  });

  it.runIf(hasLinks)('are not taken for missing if their folder cannot be read', async () => {
    const directory = createTemporaryDirectory();
    symlinkSync('runs', path.join(directory, 'runs'));
    const recordings = new RecordingDirectory(directory);

    await expect(recordings.read(path.join('runs', 'a.json'))).rejects.toThrow('ELOOP');
    await expect(recordings.readAll().next()).rejects.toThrow('ELOOP');
  });

  it('are not reported as the source of answers if one of them is damaged', async () => {
    const project = createEchoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    project.write(findRecordedRun(project), '{');
    const { exitCode, stderr } = await project.run(['test', '--replay', 'rec']);
    expect(stderr()).toContain('is damaged');
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).not.toContain('answered from recordings');
  });

  describe('of a case that may cost $0.1', () => {
    /** Replays the case after this cost was written to its recording. */
    async function replayWithCost(cost: unknown) {
      const project = createEchoProject('  - { inputs: { text: a }, expect: [{ cost: 0.1 }] }\n');
      await project.run(['test', '--record', 'rec']);
      const file = findRecordedRun(project);
      const recording = JSON.parse(readFileSync(path.join(project.home, file), 'utf8')) as object;
      project.write(file, JSON.stringify({ ...recording, cost }));
      return project.run(['test', '--replay', 'rec']);
    }

    it('pass it if they hold as much', async () => {
      expect((await replayWithCost(0.1)).exitCode).toBe(0);
    });

    it('fail it if they hold more', async () => {
      const { exitCode, stdout } = await replayWithCost(0.2);
      expect(stdout()).toContain('0.2');
      expect(exitCode).toBe(EXIT.runFailed);
    });

    it('are refused if they hold a cost that is not an amount', async () => {
      const { exitCode, stderr } = await replayWithCost('free');
      expect(stderr()).toContain('cost is not an amount');
      expect(exitCode).toBe(EXIT.usage);
    });
  });

  it.each(['cost', 'fault', 'notKept'])(
    'are replayed if %s is null, as if it were missing',
    async field => {
      const project = new Project({});
      const run = ['run', 'hello', '-i', 'name=Ada'];
      const recorded = await project.run([...run, '--record', 'rec']);
      const file = findRecordedRun(project);
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

    it('may lack a title', async () => {
      const { exitCode, hasResults } = await replayEditedList({ title: null });
      expect(exitCode).toBe(0);
      expect(hasResults).toBe(true);
    });
  });
});
