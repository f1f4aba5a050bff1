import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordingDirectory } from '../../../src/cli/recordings/recording-directory.ts';
import { localService } from '../../../src/main.ts';
import { KEY } from '../../support/client.ts';
import { removeDirectory, runInProcess, testClock } from '../../support/context.ts';
import { ECHO, echoProject, Project } from '../../support/project.ts';
import { type Exchange, failure, scriptedServiceForTest, success } from '../../support/scripted-service.ts';
import {
  creation,
  runAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from '../commands/run/run-against-service.ts';

const CASES = `
  - name: says a
    inputs: { text: a }
    expect: [{ equals: a }]
    repeat: 2
  - name: says b
    inputs: { text: b }
    expect: [{ equals: c }]
`;

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}

async function* endlessBytes(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(1000);
}

describe('recordings', () => {
  it('reproduce the report without a service: nothing is sent', async () => {
    const project = echoProject(CASES);
    const recorded = await project.run(['test', '--record', 'rec', '--json']);
    const replayed = await project.run(['test', '--replay', 'rec', '--json']);
    const runIds = (text: string): string[] =>
      [...text.matchAll(/"runId": "([^"]+)"/gu)].map(([, id = '']) => id);
    expect([recorded.exitCode, replayed.exitCode]).toEqual([5, 5]);
    expect(new Set(runIds(recorded.stdout())).size).toBe(3);
    expect(runIds(replayed.stdout())).toEqual(runIds(recorded.stdout()));
    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toHaveLength(3);
  });

  it('are found again if git gave every file the line ends of Windows', async () => {
    const expected = 'expect: [{ equals: "Dear Ada,\\nyours" }, { matches: "^Dear Ada,\\nyours$" }]';
    const project = echoProject(
      `  - inputs: { text: "@letter.txt" }\n    ${expected}\n  - inputs:\n      text: |-\n        Dear Ada,\n        yours\n    ${expected}\n`,
      { 'letter.txt': 'Dear Ada,\nyours' },
    );
    await project.run(['test', '--record', 'rec']);
    for (const name of filesBelow(project.home).filter(file => /\.(?:json|prompt|txt|yaml)$/u.test(file))) {
      const text = readFileSync(path.join(project.home, name), 'utf8');
      project.write(name, text.replaceAll('\n', '\r\n'));
    }
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect([exitCode, stdout()]).toEqual([0, expect.stringContaining('2 passed')]);
  });

  it('name the nearest one and the input that differs if a run was not recorded', async () => {
    const project = echoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.test.yaml', `cases:${CASES.replace('text: b', 'text: d')}`);
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect(exitCode).toBe(2);
    expect(stdout()).toContain('is not recorded in');
    expect(stdout()).toContain('it differs in the input "text" ("');
  });

  it('name one of the same version as the nearest, however many inputs differ', async () => {
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
    expect([exitCode, stdout()]).toEqual([
      2,
      expect.stringContaining('it differs in the input "a" ("x" there'),
    ]);
    expect(stdout()).not.toContain('of another version');
  });

  it('are not reported as the source of answers if one of them is damaged', async () => {
    const project = echoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    project.write(path.join('rec', 'runs', name), '{');
    const { exitCode, stderr } = await project.run(['test', '--replay', 'rec']);
    expect([exitCode, stderr()]).toEqual([2, expect.stringContaining('is damaged')]);
    expect(stderr()).not.toContain('answered from recordings');
  });

  it('name few of the inputs in which the nearest one differs', async () => {
    const project = echoProject('  - { inputs: { text: a } }\n');
    await project.run(['test', '--record', 'rec']);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const recorded = readFileSync(path.join(project.home, file), 'utf8');
    const many = Array.from(
      { length: 1000 },
      (_, at) => `${JSON.stringify(`${'x'.repeat(1000)}${at}`)}: "",`,
    );
    project.write(file, recorded.replace('"textInputs": {', `"textInputs": {${many.join('')}`));
    project.write('echo.test.yaml', 'cases:\n  - { inputs: { text: d } }\n');
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect([exitCode, stdout()]).toEqual([2, expect.stringMatching(/, and 981 more\.$/mu)]);
    expect(stdout().length).toBeLessThan(10_000);
  });

  it('keep what a run cost, which expectations are judged by', async () => {
    const project = echoProject('  - { inputs: { text: a }, expect: [{ cost: 0.1 }] }\n');
    expect((await project.run(['test', '--record', 'rec'])).exitCode).toBe(0);
    expect((await project.run(['test', '--replay', 'rec'])).exitCode).toBe(0);
    const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const recording = JSON.parse(readFileSync(path.join(project.home, file), 'utf8')) as object;
    project.write(file, JSON.stringify({ ...recording, cost: 0.2 }));
    const dearer = await project.run(['test', '--replay', 'rec']);
    expect([dearer.exitCode, dearer.stdout()]).toEqual([5, expect.stringContaining('0.2')]);
    project.write(file, JSON.stringify({ ...recording, cost: 'free' }));
    const damaged = await project.run(['test', '--replay', 'rec']);
    expect([damaged.exitCode, damaged.stderr()]).toEqual([
      2,
      expect.stringContaining('cost is not an amount'),
    ]);
  });

  it('do not answer for a prompt that has changed', async () => {
    const project = echoProject(CASES);
    await project.run(['test', '--record', 'rec']);
    project.write('echo.prompt', `${ECHO}!`);
    const { exitCode, stdout } = await project.run(['test', '--replay', 'rec']);
    expect([exitCode, stdout()]).toEqual([2, expect.stringContaining('it differs in the prompt version')]);
    expect(stdout()).toContain('the prompt file has changed since, or it is another model or prompt');
  });

  it('also answer run and batch, by slug, without key, cache or journal', async () => {
    const project = new Project({ 'rows.csv': 'name\nAda\nEve\n' });
    const batch = ['batch', 'hello', '--from', 'rows.csv'];
    const ran = await project.run(['run', 'hello', '-i', 'name=Ada', '--record', 'rec']);
    await project.run([...batch, '--record', 'rec']);
    const elsewhere = new Project({ 'rows.csv': 'name\nAda\nEve\n' });
    const rec = path.join(project.home, 'rec');
    const env = { PROMPTRUN_REPLAY: rec };
    const again = await elsewhere.run(['run', 'hello', '-i', 'name=Ada'], { env });
    expect([again.exitCode, again.stdout()]).toEqual([0, ran.stdout()]);
    const rows = await elsewhere.run(batch, { env });
    expect([rows.exitCode, rows.stdout().trim().split('\n').length]).toEqual([0, 2]);
    expect(filesBelow(elsewhere.home).filter(name => name.includes('journal.jsonl'))).toEqual([]);
    expect((await elsewhere.run(['run', 'hello', '-i', 'name=Bo'], { env })).exitCode).toBe(2);
  });

  it('keep equal rows of a batch apart', async () => {
    const project = new Project({ 'rows.csv': 'name\nAda\nAda\n' });
    const batch = ['batch', 'hello', '--from', 'rows.csv', '--query', 'runId'];
    const ids = async (...flags: string[]): Promise<string[]> =>
      (await project.run([...batch, ...flags])).stdout().trim().split('\n').toSorted();
    const recorded = await ids('--record', 'rec');
    expect(new Set(recorded).size).toBe(2);
    expect(await ids('--replay', 'rec')).toEqual(recorded);
    project.write('rows.csv', 'name\nAda\nAda\nAda\n');
    const { exitCode, stderr } = await project.run([...batch, '--replay', 'rec']);
    expect([exitCode, stderr()]).toEqual([5, expect.stringContaining('this run is not recorded')]);
  });

  it.each(['cost', 'fault', 'notKept'])('answer if %s is null, as if it were missing', async field => {
    const project = new Project({});
    const run = ['run', 'hello', '-i', 'name=Ada'];
    const recorded = await project.run([...run, '--record', 'rec']);
    const [name = ''] = filesBelow(path.join(project.home, 'rec', 'runs'));
    const file = path.join('rec', 'runs', name);
    const content = JSON.parse(readFileSync(path.join(project.home, file), 'utf8')) as object;
    project.write(file, JSON.stringify({ ...content, [field]: null }));
    const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);
    expect([exitCode, stdout()]).toEqual([0, recorded.stdout()]);
  });

  it.each([
    ['slug', 1, 'body.data.rows[0].slug is not text'],
    ['uses', 'many', 'body.data.rows[0].uses is not a count'],
    ['title', null, undefined],
  ])('are refused if %s is %j in what a service answered, before any row', async (field, value, fault) => {
    const project = new Project({ 'rows.csv': 'name\nAda\n' });
    const batch = ['batch', 'hello', '--from', 'rows.csv', '--out'];
    expect((await project.run([...batch, 'one.jsonl', '--record', 'rec'])).exitCode).toBe(0);
    const row = { promptId: VERSION, promptVersionId: VERSION, slug: 'hello', title: 'Hello', uses: 1 };
    const body = { status: 'SUCCESS', data: { rows: [{ ...row, [field]: value }] } };
    const file = path.join('rec', 'answers', 'one.json');
    project.write(file, JSON.stringify({ httpStatus: 200, body }));
    const { exitCode, stderr } = await project.run([...batch, 'two.jsonl', '--replay', 'rec']);
    const damaged = `${path.join(project.home, file)} is damaged: ${fault}`;
    expect([exitCode, stderr()]).toEqual(
      fault ? [2, expect.stringContaining(damaged)] : [0, expect.any(String)],
    );
    expect(existsSync(path.join(project.home, 'two.jsonl'))).toBe(!fault);
  });

  it('keep pictures, which a replay saves without the service', async () => {
    const project = new Project({});
    const run = ['run', 'postcard', '-i', 'place=Oslo', '--save'];
    await project.run([...run, 'one', '--record', 'rec']);
    expect((await project.run([...run, 'two', '--replay', 'rec'])).exitCode).toBe(0);
    const [one, two] = ['one', 'two'].map(directory => {
      const name = readdirSync(path.join(project.home, directory)).find(file => file.endsWith('.png'));
      return readFileSync(path.join(project.home, directory, name ?? ''));
    });
    expect(two?.equals(one ?? Buffer.alloc(0))).toBe(true);
  });

  it('reproduce error answers and failed runs with their exit codes', async () => {
    const failed = succeededRun({ runStatus: 'failed', outputs: [{ type: 'error', data: 'no' }] });
    const service = await scriptedServiceForTest(creation(failed), {
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
    [429, 'TOO_MANY_REQUESTS', 7],
    [502, 'BAD_GATEWAY', 1],
    [503, 'UNAVAILABLE', 1],
  ])(
    'reproduce a passing %i until there is a better answer, which it never replaces',
    async (httpStatus, status, exitCode) => {
      const refused = (): Exchange => ({
        expect: { method: 'POST', path: '/runs' },
        answer: failure(httpStatus, status, 'busy', null, { 'retry-after': '61' }),
      });
      const service = await scriptedServiceForTest(refused(), creation(succeededRun()), refused());
      const project = new Project({});
      const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
      const ends: number[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        for (const [flag, given] of [
          ['--record', { env }],
          ['--replay', {}],
        ] as const) {
          ends.push((await project.run(['run', VERSION, flag, 'rec'], given)).exitCode);
        }
      }
      expect(ends).toEqual([exitCode, exitCode, 0, 0, exitCode, 0]);
    },
  );

  it.each([
    [
      'in a success',
      (key: string) => creation(succeededRun({ outputs: [textOutput(key)], [key]: { a: [key] } })),
    ],
    [
      'in an error',
      (key: string) => ({ answer: failure(401, 'UNAUTHORIZED_ERROR', key, { key, [key]: 1 }) }),
    ],
  ])('never hold the key that a service echoes %s, and neither do answers of a replay', async (_, echo) => {
    const service = await scriptedServiceForTest(echo(KEY));
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    await project.run(['run', VERSION, '-i', `a=${KEY}`, '--record', 'rec'], { env });
    const rec = path.join(project.home, 'rec');
    const files = filesBelow(rec).filter(name => name.endsWith('.json'));
    expect(files).not.toEqual([]);
    for (const file of files) expect(readFileSync(path.join(rec, file), 'utf8')).not.toContain(KEY);
    const replayed = await project.run(['run', VERSION, '-i', `a=${KEY}`, '--replay', 'rec', '--json']);
    expect(replayed.stdout() + replayed.stderr()).toContain('[key]');
    expect(replayed.stdout() + replayed.stderr()).not.toContain(KEY);
  });

  it('never hold the key of a provider that an answer echoes, but words that are used as keys', async () => {
    const key = 'sk-proj-0123456789abcdef';
    const project = new Project({ 'echo.prompt': ECHO });
    const env = { OPENAI_API_KEY: key, GROQ_API_KEY: 'placeholder' };
    const argv = ['run', 'echo.prompt', '-i', `text=${key} is not a placeholder`];
    expect((await project.run([...argv, '--record', 'rec'], { env })).exitCode).toBe(0);
    for (const file of filesBelow(path.join(project.home, 'rec')).filter(name => name.endsWith('.json'))) {
      expect(readFileSync(path.join(project.home, 'rec', file), 'utf8')).not.toContain(key);
    }
    const { stdout } = await project.run([...argv, '--replay', 'rec'], { env });
    expect(stdout()).toBe('[key] is not a placeholder\n');
  });

  describe('of a stranger', () => {
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
      ['outputs that are a text', /"outputs": \[/u, '"outputs": "", "rest": [', 'outputs is not a list'],
      ['a type that is a number', /"type": "image"/u, '"type": 1', 'type is not text'],
      ['a status that is a list', /"runStatus": "succeeded"/u, '"runStatus": []', 'runStatus is not text'],
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
      const batch = ['batch', 'postcard', '--from', 'rows.csv', '--replay', 'rec', '--out', 'out.jsonl'];
      for (const argv of [run, batch]) {
        const { exitCode, stdout, stderr } = await project.run(argv);
        expect([exitCode, stdout()]).toEqual([2, '']);
        expect(stderr()).toContain(message);
        expect(stderr()).toContain(path.basename(file));
      }
      expect(readdirSync(project.home)).not.toContain('out');
    });

    it.each([
      ['tokens', /"tokens": \d+/u],
      ['data', /"data": "[^"]*"/u],
      ['type', /"type": "text"/u],
    ])('are replayed if %s is null', async (field, pattern) => {
      const project = new Project({});
      const run = ['run', 'hello', '-i', 'name=Ada', '--json'];
      await project.run([...run, '--record', 'rec']);
      const [name = ''] = readdirSync(path.join(project.home, 'rec', 'runs'));
      const file = path.join('rec', 'runs', name);
      const content = readFileSync(path.join(project.home, file), 'utf8');
      project.write(file, content.replace(pattern, `"${field}": null`));
      const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);
      expect([exitCode, stdout()]).toEqual([0, expect.stringContaining(`"${field}": null`)]);
    });

    it('are refused if the bytes of a medium do not match its name', async () => {
      const { project } = recorded();
      const [name = ''] = readdirSync(path.join(project.home, 'rec', 'media'));
      project.write(path.join('rec', 'media', name), 'a page');
      const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);
      expect([run.exitCode, run.stderr()]).toEqual([2, expect.stringContaining('contains something else')]);
    });

    it('are refused if a medium is larger than the limit', async () => {
      const { project } = recorded();
      const [name = ''] = readdirSync(path.join(project.home, 'rec', 'media'));
      truncateSync(path.join(project.home, 'rec', 'media', name), 2 ** 36);
      const run = await project.run(['run', 'postcard', '-i', 'place=Oslo', '--replay', 'rec']);
      expect([run.exitCode, run.stderr()]).toEqual([2, expect.stringContaining('larger than 256 MiB')]);
    });
  });

  it('hold what a service sends in the types of the interface, so that a replay takes them', async () => {
    const service = await scriptedServiceForTest(
      creation(
        succeededRun({ tokens: '<b>3</b>' as never, outputs: [{ type: 'text', data: { a: 1 } as never }] }),
      ),
    );
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const run = ['run', VERSION, '-i', 'a=1'];
    const recorded = await project.run([...run, '--record', 'rec'], { env });
    const replayed = await project.run([...run, '--replay', 'rec']);
    expect([recorded.stdout(), replayed.stdout()]).toEqual(['{"a":1}\n', '{"a":1}\n']);
    expect((await project.run([...run, '--replay', 'rec', '--query', 'tokens'])).stdout()).toBe('null\n');
  });

  it.each([1.5, -1, 1e300])('hold null for tokens that are not a count, such as %s', async tokens => {
    const service = await scriptedServiceForTest(
      creation(succeededRun({ tokens, warnings: [1, 'a warning'] as string[] })),
    );
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const run = ['run', VERSION, '-i', 'a=1', '--json'];
    await project.run([...run, '--record', 'rec'], { env });
    const { exitCode, stdout } = await project.run([...run, '--replay', 'rec']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout())).toEqual(succeededRun({ tokens: null as never, warnings: ['a warning'] }));
  });

  it('leave out, with a note, what no replay would accept; the run ends normally', async () => {
    const answer = creation(succeededRun({ outputs: [textOutput('x'.repeat(63 * 1024 * 1024))] }));
    const service = await scriptedServiceForTest(answer, creation());
    const { home } = new Project({ 'large.txt': 'y'.repeat(2 * 1024 * 1024) });
    const large = ['run', VERSION, '-i', 'a=@large.txt', '--record', 'rec'];
    const recorded = await runAgainst(service, large, { home });
    expect([recorded.exitCode, recorded.stdoutBytes().length]).toEqual([0, 63 * 1024 * 1024 + 1]);
    expect(recorded.stderr()).toContain('note: not recorded: it is larger than 64 MiB');
    const small = ['run', VERSION, '-i', 'a=1'];
    await runAgainst(service, [...small, '--record', 'rec'], { home });
    expect((await runAgainst(service, [...small, '--replay', 'rec'], { home })).exitCode).toBe(0);
  }, 180_000);

  it('leave out an answer that does not follow the interface', async () => {
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
    expect([exitCode, stderr()]).toEqual([1, expect.stringContaining('note: not recorded: the answer')]);
    expect(readdirSync(home)).not.toContain('rec');
  });

  it('keep to a limit on media: the run ends normally, and its replay names the missing ones', async () => {
    const urls = Array.from({ length: 70 }, (_, at) => ({ type: 'image', data: `http://127.0.0.1:9/${at}` }));
    const service = await scriptedServiceForTest(creation(succeededRun({ outputs: urls })));
    const project = new Project({});
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
    const run = ['run', VERSION, '-i', 'a=1'];
    const recorded = await project.run([...run, '--record', 'rec'], { env, clock: testClock() });
    expect(recorded.exitCode).toBe(0);
    expect(recorded.stdout().trim().split('\n')).toHaveLength(70);
    const replayed = await project.run([...run, '--replay', 'rec']);
    expect([replayed.exitCode, replayed.stderr()]).toEqual([2, expect.stringContaining('127.0.0.1:9/69')]);
  });

  it('keep no medium that is too big', async () => {
    const kept = new RecordingDirectory(path.join(new Project({}).home, 'rec'));
    await expect(kept.writeMedia(endlessBytes(), 10_000)).rejects.toThrow('it is larger than');
    expect(filesBelow(kept.directory)).toEqual(['media']);
  });

  it.each([
    [['--record', 'a', '--replay', 'b'], {}],
    [[], { PROMPTRUN_RECORD: 'a', PROMPTRUN_REPLAY: 'b' }],
    [['--record', 'a'], { PROMPTRUN_REPLAY: 'b' }],
  ])('are made or replayed, not both, and nothing is run: %j %j', async (flags, env) => {
    const project = echoProject(CASES);
    const { exitCode, stderr } = await project.run(['test', ...flags], { env });
    expect([exitCode, stderr()]).toEqual([2, expect.stringContaining("can't be used together")]);
    expect(existsSync(path.join(project.home, 'a'))).toBe(false);
  });

  it('are replayed by the flag, whatever the environment says, and made if its replay is empty', async () => {
    const project = echoProject(CASES);
    const made = await project.run(['test', '--record', 'a'], { env: { PROMPTRUN_REPLAY: '' } });
    const replayed = await project.run(['test', '--replay', 'a'], { env: { PROMPTRUN_RECORD: 'b' } });
    expect(replayed.exitCode).toBe(made.exitCode);
    expect(existsSync(path.join(project.home, 'a', 'runs'))).toBe(true);
    expect(existsSync(path.join(project.home, 'b'))).toBe(false);
  });

  it('name the file that could not be written', async () => {
    const project = new Project({});
    const run = ['run', 'hello', '-i', 'name=Ada', '--record', 'rec'];
    await project.run(run);
    const [name = ''] = readdirSync(path.join(project.home, 'rec/runs'));
    const file = path.join(project.home, 'rec/runs', name);
    rmSync(file);
    mkdirSync(file);
    const { stderr, stdout, exitCode } = await runInProcess(run, { home: project.home, local: localService });
    expect(stderr()).toContain(`note: not recorded: ${file} can't be written: `);
    // The answer is out, but a script must not take the recording for complete.
    expect(stdout()).toContain('Ada');
    expect(stderr()).toMatch(/error: .*rec is incomplete: 1 answer could not be recorded \(FILE_ERROR\)/u);
    expect(exitCode).toBe(1);
  });

  it('are named as the source of an answer', async () => {
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

  it('are not begun if nothing can be written', async () => {
    const project = echoProject(CASES);
    const run = await project.run(['run', 'hello', '-i', 'name=Ada', '--record', 'echo.prompt']);
    expect([run.exitCode, run.stderr()]).toEqual([
      2,
      expect.stringMatching(/--record: \S+ is not a directory/u),
    ]);
    const { stdout } = await project.run(['runs', 'list', '--json']);
    expect(JSON.parse(stdout())).toEqual([]);
  });

  it('of a directory that is not there are refused', async () => {
    const { exitCode, stderr } = await echoProject(CASES).run(['test', '--replay', 'none']);
    expect([exitCode, stderr()]).toEqual([2, expect.stringContaining('no such directory')]);
  });
});
