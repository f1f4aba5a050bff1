import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { KEY } from '../../support/client.ts';
import { runInProcess } from '../../support/context.ts';
import { createEchoProject, ECHO, Project } from '../../support/project.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
} from '../../support/scripted-service.ts';
import { creation, succeededRun, VERSION } from '../commands/run/run-against-service.ts';
import { CASES, listFilesBelow } from './recorded-cases.ts';

describe('a replay', () => {
  it('gives the same report as the recorded test, and sends nothing', async () => {
    const project = createEchoProject(CASES);
    const recorded = await project.run(['test', '--record', 'rec', '--json']);
    const replayed = await project.run(['test', '--replay', 'rec', '--json']);
    const runIds = (text: string): string[] =>
      [...text.matchAll(/"runId": "([^"]+)"/gu)].map(([, id = '']) => id);

    expect(recorded.exitCode).toBe(EXIT.runFailed);
    expect(replayed.exitCode).toBe(EXIT.runFailed);
    expect(new Set(runIds(recorded.stdout())).size).toBe(3);
    expect(runIds(replayed.stdout())).toEqual(runIds(recorded.stdout()));

    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toHaveLength(3);
  });

  it('finds its recordings if git gave every file the line ends of Windows', async () => {
    const expected =
      'expect: [{ equals: "Dear Ada,\\nyours" }, { matches: "^Dear Ada,\\nyours$" }]';
    const project = createEchoProject(
      `  - inputs: { text: "@letter.txt" }\n    ${expected}\n  - inputs:\n      text: |-\n        Dear Ada,\n        yours\n    ${expected}\n`,
      { 'letter.txt': 'Dear Ada,\nyours' },
    );
    await project.run(['test', '--record', 'rec']);

    for (const name of listFilesBelow(project.home).filter(file =>
      /\.(?:json|prompt|txt|yaml)$/u.test(file),
    )) {
      const text = readFileSync(path.join(project.home, name), 'utf8');
      project.write(name, text.replaceAll('\n', '\r\n'));
    }

    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect(stdout()).toContain('2 passed');
    expect(exitCode).toBe(0);
  });

  it('reports the nearest recording of a run that was not recorded, and the input that differs', async () => {
    const project = createEchoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.test.yaml', `cases:${CASES.replace('text: b', 'text: d')}`);
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).toContain('is not recorded in');
    expect(stdout()).toContain('it differs in the input "text" ("');
  });

  it('reports one of the same version as the nearest, however many inputs differ', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const template = keys.map(key => `{{${key}}}`).join('');
    const inputs = (value: string): string => keys.map(key => `${key}: ${value}`).join(', ');
    const project = new Project({
      'one.prompt': `---\nmodel: echo\n---\n${template}`,
      'other.prompt': `---\nmodel: echo\n---\n${template}!`,
      'one.test.yaml': `cases:\n  - { inputs: { ${inputs('x')} } }\n`,
      'other.test.yaml': `cases:\n  - { inputs: { ${inputs('y')} } }\n`,
    });
    await project.run(['test', '--record', 'rec']);
    project.write('one.test.yaml', `cases:\n  - { inputs: { ${inputs('y')} } }\n`);
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec', 'one.test.yaml']);

    expect(stdout()).toContain('it differs in the input "a" ("x" there');
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).not.toContain('of another version');
  });

  it('reports only a few of the inputs in which the nearest recording differs', async () => {
    const project = createEchoProject('  - { inputs: { text: a } }\n');
    await project.run(['test', '--record', 'rec']);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const recorded = readFileSync(path.join(project.home, file), 'utf8');
    const many = Array.from(
      { length: 1000 },
      (_, index) => `${JSON.stringify(`${'x'.repeat(1000)}${index}`)}: "",`,
    );
    project.write(file, recorded.replace('"textInputs": {', `"textInputs": {${many.join('')}`));
    project.write('echo.test.yaml', 'cases:\n  - { inputs: { text: d } }\n');
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);

    // The recording has 1,001 inputs that the replay lacks or has otherwise; 20 are named.
    expect(stdout()).toMatch(/, and 981 more\.$/mu);
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout().length).toBeLessThan(10_000);
  });

  it('has no answer for a prompt that has changed since', async () => {
    const project = createEchoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.prompt', `${ECHO}!`);
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);

    expect(stdout()).toContain('it differs in the prompt version');
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).toContain(
      'the prompt file has changed since, or it is another model or prompt',
    );
  });

  it('answers run and batch by slug, without key, cache or journal', async () => {
    const project = new Project({ 'rows.csv': 'name\nAda\nEve\n' });
    const batch = ['batch', 'hello', '--from', 'rows.csv'];
    const ran = await project.run(['run', 'hello', '-i', 'name=Ada', '--record', 'rec']);
    await project.run([...batch, '--record', 'rec']);
    const elsewhere = new Project({ 'rows.csv': 'name\nAda\nEve\n' });
    const rec = path.join(project.home, 'rec');
    const env = { PROMPTRUN_REPLAY: rec };
    const again = await elsewhere.run(['run', 'hello', '-i', 'name=Ada'], { env });

    expect(again.stdout()).toBe(ran.stdout());
    expect(again.exitCode).toBe(0);

    const rows = await elsewhere.run(batch, { env });
    expect(rows.stdout().trim().split('\n').length).toBe(2);
    expect(rows.exitCode).toBe(0);
    expect(listFilesBelow(elsewhere.home).filter(name => name.includes('journal.jsonl'))).toEqual(
      [],
    );
    expect((await elsewhere.run(['run', 'hello', '-i', 'name=Bo'], { env })).exitCode).toBe(
      EXIT.usage,
    );
  });

  it('gives equal rows of a batch their own runs', async () => {
    const project = new Project({ 'rows.csv': 'name\nAda\nAda\n' });
    const batch = ['batch', 'hello', '--from', 'rows.csv', '--query', 'runId'];
    const replayIds = async (...flags: string[]): Promise<string[]> =>
      (await project.run([...batch, ...flags])).stdout().trim().split('\n').toSorted();
    const recorded = await replayIds('--record', 'rec');

    expect(new Set(recorded).size).toBe(2);
    expect(await replayIds('--replay', 'rec')).toEqual(recorded);

    project.write('rows.csv', 'name\nAda\nAda\nAda\n');
    const { exitCode, stderr } = await project.run([...batch, '--replay', 'rec']);

    expect(stderr()).toContain('this run is not recorded');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('saves recorded pictures without the service', async () => {
    const project = new Project({});
    const run = ['run', 'postcard', '-i', 'place=Oslo', '--save'];
    await project.run([...run, 'one', '--record', 'rec']);

    expect((await project.run([...run, 'two', '--replay', 'rec'])).exitCode).toBe(0);

    const [one, two] = ['one', 'two'].map(directory => {
      const name = readdirSync(path.join(project.home, directory)).find(file =>
        file.endsWith('.png'),
      );
      return readFileSync(path.join(project.home, directory, name ?? ''));
    });
    expect(two?.equals(one ?? Buffer.alloc(0))).toBe(true);
  });

  it('ends with the exit codes and messages of recorded errors and failed runs', async () => {
    const failed = succeededRun({ runStatus: 'failed', outputs: [{ type: 'error', data: 'no' }] });
    const service = await startScriptedServiceForTest(creation(failed), {
      expect: { method: 'POST', path: '/runs' },
      answer: failure(422, 'VALIDATION_ERROR', 'bad'),
    });
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const one = ['run', VERSION, '-i', 'a=1'];
    const other = ['run', VERSION, '-i', 'a=2'];
    const recorded = [
      await project.run([...one, '--record', 'rec'], { env }),
      await project.run([...other, '--record', 'rec'], { env }),
    ];
    const replayed = [
      await project.run([...one, '--replay', 'rec']),
      await project.run([...other, '--replay', 'rec']),
    ];

    expect(replayed.map(({ exitCode }) => exitCode)).toEqual([5, 2]);
    expect(replayed.map(({ stderr }) => stderr())).toEqual(recorded.map(({ stderr }) => stderr()));
  });

  it.each([
    [429, 'TOO_MANY_REQUESTS', EXIT.rateLimited],
    [502, 'BAD_GATEWAY', EXIT.fault],
    [503, 'UNAVAILABLE', EXIT.fault],
  ])(
    'repeats a passing %i until a better answer is recorded, which it never replaces',
    async (httpStatus, status, exitCode) => {
      const refuseCreation = (): Exchange => ({
        expect: { method: 'POST', path: '/runs' },
        answer: failure(httpStatus, status, 'busy', null, { 'retry-after': '61' }),
      });

      const service = await startScriptedServiceForTest(
        refuseCreation(),
        creation(succeededRun()),
        refuseCreation(),
      );
      const project = new Project({});

      const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
      const ends: number[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        for (const [flag, options] of [
          ['--record', { env }],
          ['--replay', {}],
        ] as const) {
          ends.push((await project.run(['run', VERSION, flag, 'rec'], options)).exitCode);
        }
      }

      expect(ends).toEqual([exitCode, exitCode, 0, 0, exitCode, 0]);
    },
  );

  it('says that the answer comes from a recording', async () => {
    const project = new Project({});
    const run = ['run', 'hello', '-i', 'name=Ada'];
    await project.run([...run, '--record', 'rec']);
    const options = { home: project.home, local: localService, env: { PROMPTRUN_REPLAY: 'rec' } };
    const { stdout, stderr } = await runInProcess(run, options);

    expect([stdout(), stderr()]).toEqual([
      expect.stringContaining('Ada'),
      'note: the answer comes from a recording\n',
    ]);
  });

  it('refuses a directory that does not exist', async () => {
    const { exitCode, stderr } = await createEchoProject(CASES).run(['test', '--replay', 'none']);
    expect(stderr()).toContain('no such directory');
    expect(exitCode).toBe(EXIT.usage);
  });
});
