import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { RecordingDirectory } from '../../../src/cli/recordings/recording-directory.ts';
import { localService } from '../../../src/main.ts';
import { KEY } from '../../support/client.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
  testClock,
} from '../../support/context.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';
import {
  creation,
  malformedRun,
  succeededRun,
  textOutput,
  VERSION,
} from '../commands/run/run-against-service.ts';
import { CASES, listFilesBelow } from './recorded-cases.ts';

const RUN_VERSION = ['run', VERSION, '-i', 'a=1'];
const MIB = 1024 * 1024;

/** Commands that record what a scripted service answers, and replay it. */
interface RecordedService {
  readonly home: string;
  readonly record: (argv: readonly string[]) => Promise<CommandResult>;
  readonly replay: (argv: readonly string[]) => Promise<CommandResult>;
}

async function startRecordedService(
  script: readonly Exchange[],
  files: Readonly<Record<string, string>> = {},
): Promise<RecordedService> {
  const service = await startScriptedServiceForTest(...script);
  const { home } = new Project(files);
  const env = buildServiceEnv(service.baseUrl, KEY);
  return {
    home,
    record: argv => runInProcess([...argv, '--record', 'rec'], { home, env, clock: testClock() }),
    replay: argv => runInProcess([...argv, '--replay', 'rec'], { home }),
  };
}

/** Returns the content of every recorded run and other JSON file of a recording. */
function listRecordedJson(home: string): string[] {
  const directory = path.join(home, 'rec');
  const files = listFilesBelow(directory).filter(name => name.endsWith('.json'));
  return files.map(name => readFileSync(path.join(directory, name), 'utf8'));
}

async function* endlessBytes(): AsyncGenerator<Uint8Array> {
  while (true) yield new Uint8Array(1000);
}

describe('recording', () => {
  it.each([
    ['in a success', creation(succeededRun({ outputs: [textOutput(KEY)], [KEY]: { a: [KEY] } }))],
    ['in an error', { answer: failure(401, 'UNAUTHORIZED_ERROR', KEY, { key: KEY, [KEY]: 1 }) }],
  ])('leaves out the key that a service echoes %s, and so does a replay', async (_, exchange) => {
    const { home, record, replay } = await startRecordedService([exchange]);
    const argv = ['run', VERSION, '-i', `a=${KEY}`];
    await record(argv);
    const replayed = await replay([...argv, '--json']);

    expect(listRecordedJson(home).join('')).toContain('[key]');
    expect(listRecordedJson(home).join('')).not.toContain(KEY);
    expect(replayed.stdout() + replayed.stderr()).toContain('[key]');
    expect(replayed.stdout() + replayed.stderr()).not.toContain(KEY);
  });

  it('leaves out the key of a provider that an answer echoes, but not words that are used as keys', async () => {
    const key = 'sk-proj-0123456789abcdef';
    const project = new Project({ 'echo.prompt': ECHO });
    const env = { OPENAI_API_KEY: key, GROQ_API_KEY: 'placeholder' };
    const argv = ['run', 'echo.prompt', '-i', `text=${key} is not a placeholder`];
    const recorded = await project.run([...argv, '--record', 'rec'], { env });
    const replayed = await project.run([...argv, '--replay', 'rec']);

    expect(recorded.exitCode).toBe(0);
    expect(listRecordedJson(project.home).join('')).not.toContain(key);
    expect(replayed.stdout()).toBe('[key] is not a placeholder\n');
  });

  it('converts what a service sends to the types of the interface', async () => {
    const run = malformedRun({ tokens: '<b>3</b>', outputs: [{ type: 'text', data: { a: 1 } }] });
    const { record, replay } = await startRecordedService([creation(run)]);
    const recorded = await record(RUN_VERSION);
    const replayed = await replay(RUN_VERSION);
    const tokens = await replay([...RUN_VERSION, '--query', 'tokens']);

    expect(recorded.stdout()).toBe('{"a":1}\n');
    expect(replayed.stdout()).toBe('{"a":1}\n');
    expect(tokens.stdout()).toBe('null\n');
  });

  it.each([1.5, -1, 1e300])(
    'writes null for tokens that are not a count, such as %s',
    async tokens => {
      const run = malformedRun({ tokens, warnings: [1, 'a warning'] });
      const { record, replay } = await startRecordedService([creation(run)]);
      await record(RUN_VERSION);
      const replayed = await replay([...RUN_VERSION, '--json']);

      expect(replayed.exitCode).toBe(0);
      expect(JSON.parse(replayed.stdout())).toEqual({
        ...succeededRun(),
        tokens: null,
        warnings: ['a warning'],
      });
    },
  );

  it('leaves out an answer that is too large to replay, with a note; the run ends normally', async () => {
    const run = succeededRun({ outputs: [textOutput('x'.repeat(63 * MIB))] });
    const files = { 'large.txt': 'y'.repeat(2 * MIB) };
    const { record, replay } = await startRecordedService([creation(run), creation()], files);
    const recorded = await record(['run', VERSION, '-i', 'a=@large.txt']);

    expect(recorded.exitCode).toBe(0);
    expect(recorded.stdoutBytes().length).toBe(63 * MIB + 1);
    expect(recorded.stderr()).toContain('note: not recorded: it is larger than 64 MiB');

    await record(RUN_VERSION);
    expect((await replay(RUN_VERSION)).stdout()).toBe('Hello, Ada!\n');
  }, 180_000);

  it('leaves out an answer that does not follow the interface, with a note', async () => {
    const listOfRuns: Exchange = {
      expect: { path: '/runs' },
      answer: success({ rows: [], hasMore: false }),
      times: 'any',
    };
    const { home, record } = await startRecordedService([
      { expect: { method: 'POST', path: '/runs' }, answer: success({ outputs: 'none' }) },
      listOfRuns,
    ]);
    const { exitCode, stderr } = await record(['run', VERSION]);

    expect(stderr()).toContain('note: not recorded: the answer');
    expect(exitCode).toBe(EXIT.fault);
    expect(readdirSync(home)).not.toContain('rec');
  });

  it('leaves out media over its limit: the run ends normally, and a replay reports the missing ones', async () => {
    const images = Array.from({ length: 70 }, (_, index) => ({
      type: 'image',
      data: `http://127.0.0.1:9/${index}`,
    }));
    const run = succeededRun({ outputs: images });
    const { record, replay } = await startRecordedService([creation(run)]);
    const recorded = await record(RUN_VERSION);
    const replayed = await replay(RUN_VERSION);

    expect(recorded.exitCode).toBe(0);
    expect(recorded.stdout().trim().split('\n')).toHaveLength(70);
    expect(recorded.stderr()).toContain(
      'not recorded: http://127.0.0.1:9/64: the run has more than 64 images and videos\n',
    );
    expect(replayed.stderr()).toContain('127.0.0.1:9/69');
    expect(replayed.exitCode).toBe(EXIT.usage);
  });

  it('keeps no part of a medium that is too large', async () => {
    const recording = new RecordingDirectory(path.join(createTemporaryDirectory(), 'rec'));
    await expect(recording.writeMedia(endlessBytes(), 10_000)).rejects.toThrow('it is larger than');
    expect(listFilesBelow(recording.directory)).toEqual(['media']);
  });

  it('ends with exit 1 and reports the file if an answer could not be written', async () => {
    const project = new Project({});
    const argv = ['run', 'hello', '-i', 'name=Ada', '--record', 'rec'];
    await project.run(argv);
    const [name = ''] = readdirSync(path.join(project.home, 'rec/runs'));
    const file = path.join(project.home, 'rec/runs', name);
    rmSync(file);
    mkdirSync(file);
    const { stderr, stdout, exitCode } = await runInProcess(argv, {
      home: project.home,
      local: localService,
    });

    expect(stderr()).toContain(`note: not recorded: ${file} can't be written: `);
    expect(stderr()).toMatch(
      /error: .*rec is incomplete: 1 answer could not be recorded \(FILE_ERROR\)/u,
    );

    // The answer is out, but a script must not take the recording for complete.
    expect(stdout()).toContain('Ada');
    expect(exitCode).toBe(EXIT.fault);
  });

  it('runs nothing if the directory cannot be written', async () => {
    const project = createEchoProject(CASES);
    const run = await project.run(['run', 'hello', '-i', 'name=Ada', '--record', 'echo.prompt']);
    const runs = await project.run(['runs', 'list', '--json']);

    expect(run.stderr()).toMatch(/--record: \S+ is not a directory/u);
    expect(run.exitCode).toBe(EXIT.usage);
    expect(JSON.parse(runs.stdout())).toEqual([]);
  });
});
