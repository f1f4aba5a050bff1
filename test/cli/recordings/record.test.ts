import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { RecordingDirectory } from '../../../src/cli/recordings/recording-directory.ts';
import { localService } from '../../../src/main.ts';
import { KEY } from '../../support/client.ts';
import { runInProcess, testClock } from '../../support/context.ts';
import { ECHO, echoProject, Project } from '../../support/project.ts';
import { failure, scriptedServiceForTest, success } from '../../support/scripted-service.ts';
import {
  creation,
  runAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from '../commands/run/run-against-service.ts';
import { CASES, filesBelow } from './recorded-cases.ts';

async function* endlessBytes(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(1000);
}

describe('recording', () => {
  it.each([
    [
      'in a success',
      (key: string) => creation(succeededRun({ outputs: [textOutput(key)], [key]: { a: [key] } })),
    ],
    [
      'in an error',
      (key: string) => ({ answer: failure(401, 'UNAUTHORIZED_ERROR', key, { key, [key]: 1 }) }),
    ],
  ])('leaves out the key that a service echoes %s, and so does a replay', async (_, echo) => {
    const service = await scriptedServiceForTest(echo(KEY));
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    await project.run(['run', VERSION, '-i', `a=${KEY}`, '--record', 'rec'], { env });
    const rec = path.join(project.home, 'rec');
    const files = filesBelow(rec).filter(name => name.endsWith('.json'));

    expect(files).not.toEqual([]);

    for (const file of files) expect(readFileSync(path.join(rec, file), 'utf8')).not.toContain(KEY);
    const replayed = await project.run([
      'run',
      VERSION,
      '-i',
      `a=${KEY}`,
      '--replay',
      'rec',
      '--json',
    ]);

    expect(replayed.stdout() + replayed.stderr()).toContain('[key]');
    expect(replayed.stdout() + replayed.stderr()).not.toContain(KEY);
  });

  it('leaves out the key of a provider that an answer echoes, but not words that are used as keys', async () => {
    const key = 'sk-proj-0123456789abcdef';
    const project = new Project({ 'echo.prompt': ECHO });
    const env = { OPENAI_API_KEY: key, GROQ_API_KEY: 'placeholder' };
    const argv = ['run', 'echo.prompt', '-i', `text=${key} is not a placeholder`];

    expect((await project.run([...argv, '--record', 'rec'], { env })).exitCode).toBe(0);

    for (const file of filesBelow(path.join(project.home, 'rec')).filter(name =>
      name.endsWith('.json'),
    )) {
      expect(readFileSync(path.join(project.home, 'rec', file), 'utf8')).not.toContain(key);
    }

    const { stdout } = await project.run([...argv, '--replay', 'rec'], { env });
    expect(stdout()).toBe('[key] is not a placeholder\n');
  });

  it('converts what a service sends to the types of the interface', async () => {
    const service = await scriptedServiceForTest(
      creation(
        succeededRun({
          tokens: '<b>3</b>' as never,
          outputs: [{ type: 'text', data: { a: 1 } as never }],
        }),
      ),
    );

    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const run = ['run', VERSION, '-i', 'a=1'];
    const recorded = await project.run([...run, '--record', 'rec'], { env });
    const replayed = await project.run([...run, '--replay', 'rec']);

    expect([recorded.stdout(), replayed.stdout()]).toEqual(['{"a":1}\n', '{"a":1}\n']);
    expect((await project.run([...run, '--replay', 'rec', '--query', 'tokens'])).stdout()).toBe(
      'null\n',
    );
  });

  it.each([1.5, -1, 1e300])(
    'writes null for tokens that are not a count, such as %s',
    async tokens => {
      const service = await scriptedServiceForTest(
        creation(succeededRun({ tokens, warnings: [1, 'a warning'] as string[] })),
      );
      const project = new Project({});
      const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
      const run = ['run', VERSION, '-i', 'a=1', '--json'];
      await project.run([...run, '--record', 'rec'], { env });
      const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);

      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout())).toEqual(
        succeededRun({ tokens: null as never, warnings: ['a warning'] }),
      );
    },
  );

  it('leaves out an answer that is too large to replay, with a note; the run ends normally', async () => {
    const answer = creation(succeededRun({ outputs: [textOutput('x'.repeat(63 * 1024 * 1024))] }));
    const service = await scriptedServiceForTest(answer, creation());
    const { home } = new Project({ 'large.txt': 'y'.repeat(2 * 1024 * 1024) });
    const large = ['run', VERSION, '-i', 'a=@large.txt', '--record', 'rec'];
    const recorded = await runAgainst(service, large, { home });

    expect(recorded.stdoutBytes().length).toBe(63 * 1024 * 1024 + 1);
    expect(recorded.exitCode).toBe(0);
    expect(recorded.stderr()).toContain('note: not recorded: it is larger than 64 MiB');

    const small = ['run', VERSION, '-i', 'a=1'];
    await runAgainst(service, [...small, '--record', 'rec'], { home });

    expect((await runAgainst(service, [...small, '--replay', 'rec'], { home })).exitCode).toBe(0);
  }, 180_000);

  it('leaves out an answer that does not follow the interface, with a note', async () => {
    const rows = { rows: [], hasMore: false };
    const service = await scriptedServiceForTest(creation({ outputs: 'none' } as never), {
      expect: { path: '/runs' },
      answer: success(rows),
      times: 'any',
    });

    const options = { clock: testClock() };
    const { exitCode, stderr, home } = await runAgainst(
      service,
      ['run', VERSION, '--record', 'rec'],
      options,
    );

    expect(stderr()).toContain('note: not recorded: the answer');
    expect(exitCode).toBe(EXIT.fault);
    expect(readdirSync(home)).not.toContain('rec');
  });

  it('leaves out media over its limit: the run ends normally, and a replay reports the missing ones', async () => {
    const urls = Array.from({ length: 70 }, (_, at) => ({
      type: 'image',
      data: `http://127.0.0.1:9/${at}`,
    }));
    const service = await scriptedServiceForTest(creation(succeededRun({ outputs: urls })));
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const run = ['run', VERSION, '-i', 'a=1'];
    const recorded = await project.run([...run, '--record', 'rec'], { env, clock: testClock() });

    expect(recorded.exitCode).toBe(0);
    expect(recorded.stdout().trim().split('\n')).toHaveLength(70);

    const replayed = await project.run([...run, '--replay', 'rec']);
    expect(replayed.stderr()).toContain('127.0.0.1:9/69');
    expect(replayed.exitCode).toBe(EXIT.usage);
  });

  it('keeps no part of a medium that is too large', async () => {
    const kept = new RecordingDirectory(path.join(new Project({}).home, 'rec'));
    await expect(kept.writeMedia(endlessBytes(), 10_000)).rejects.toThrow('it is larger than');
    expect(filesBelow(kept.directory)).toEqual(['media']);
  });

  it('ends with exit 1 and reports the file if an answer could not be written', async () => {
    const project = new Project({});
    const run = ['run', 'hello', '-i', 'name=Ada', '--record', 'rec'];
    await project.run(run);
    const [name = ''] = readdirSync(path.join(project.home, 'rec/runs'));
    const file = path.join(project.home, 'rec/runs', name);
    rmSync(file);
    mkdirSync(file);
    const { stderr, stdout, exitCode } = await runInProcess(run, {
      home: project.home,
      local: localService,
    });

    expect(stderr()).toContain(`note: not recorded: ${file} can't be written: `);

    // The answer is out, but a script must not take the recording for complete.
    expect(stdout()).toContain('Ada');
    expect(stderr()).toMatch(
      /error: .*rec is incomplete: 1 answer could not be recorded \(FILE_ERROR\)/u,
    );
    expect(exitCode).toBe(EXIT.fault);
  });

  it('runs nothing if the directory cannot be written', async () => {
    const project = echoProject(CASES);
    const run = await project.run(['run', 'hello', '-i', 'name=Ada', '--record', 'echo.prompt']);

    expect(run.stderr()).toMatch(/--record: \S+ is not a directory/u);
    expect(run.exitCode).toBe(EXIT.usage);

    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toEqual([]);
  });
});
