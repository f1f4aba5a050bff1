import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { OutputItem } from '../../../../src/wire/index.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import {
  type Exchange,
  failure,
  type PlainAnswer,
  type ScriptedService,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import {
  creation,
  RUN,
  runAgainst,
  startAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from './run-against-service.ts';
import { PICTURE, RUN_IT, startServiceWithOutputs } from './service-with-outputs.ts';

const EXPIRY = '2027-01-15T08:00:00.000Z';
const EXPIRY_SECONDS = Date.parse(EXPIRY) / 1000;

describe('--save', () => {
  const expectDownload = (answer: PlainAnswer): Exchange => ({
    expect: { method: 'GET', path: /^\/media/, headers: { authorization: null, cookie: null } },
    answer,
  });

  const createImageAnswer = (body: Uint8Array = PICTURE, type = 'image/png'): PlainAnswer => ({
    headers: { 'content-type': type },
    body,
  });

  /** Returns a service whose run has these outputs; `/media…` leads to the service itself. */
  async function startServiceWith(
    outputs: readonly OutputItem[],
    ...downloads: Exchange[]
  ): Promise<ScriptedService> {
    const service: ScriptedService = await startScriptedServiceForTest(
      {
        expect: { method: 'POST', path: '/runs' },
        answer: () =>
          success(
            succeededRun({
              outputs: outputs.map(item => ({
                ...item,
                data: item.data.replace(/^\/media/, `${service.origin}/media`),
              })),
            }),
          ),
      },
      ...downloads,
    );
    return service;
  }

  it('writes each output to a file named after the run, and prints their paths', async () => {
    const home = createTemporaryDirectory();
    const outputs = [
      textOutput('words'),
      { type: 'image', data: `/media/a?expires=${EXPIRY_SECONDS}` },
      { type: 'error', data: 'no' },
      { type: 'video', data: '/media/b' },
    ];

    const service = await startServiceWith(
      outputs,
      expectDownload(createImageAnswer()),
      expectDownload(createImageAnswer(Buffer.from('film'), 'video/mp4')),
    );
    const { exitCode, stdout } = await runAgainst(service, [...RUN_IT, '--save', 'out'], { home });

    expect(exitCode).toBe(0);
    expect(stdout()).toBe(
      `words\n${path.join('out', `${RUN}-2.png`)}\n${path.join('out', `${RUN}-4.mp4`)}\n`,
    );

    const read = (name: string): Buffer => readFileSync(path.join(home, 'out', name));
    expect(read(`${RUN}-1.txt`).toString()).toBe('words');
    expect(read(`${RUN}-2.png`)).toEqual(PICTURE);
    expect(read(`${RUN}-4.mp4`).toString()).toBe('film');
    expect(readdirSync(path.join(home, 'out')).toSorted()).toEqual(
      [`${RUN}-1.txt`, `${RUN}-2.png`, `${RUN}-4.mp4`, `${RUN}.json`].toSorted(),
    );
    expect(JSON.parse(read(`${RUN}.json`).toString())).toMatchObject({
      runId: RUN,
      promptVersionId: VERSION,
      textInputs: { name: 'Ada' },
      runOptions: {},
      files: [
        { name: `${RUN}-1.txt`, size: 5 },
        {
          name: `${RUN}-2.png`,
          sourceUrl: `${service.origin}/media/a?expires=${EXPIRY_SECONDS}`,
          size: PICTURE.length,
          sha256: createHash('sha256').update(PICTURE).digest('hex'),
          urlExpiresAt: EXPIRY,
        },
        // A day after the time of the test, because its URL doesn't say when it expires.
        { name: `${RUN}-4.mp4`, urlExpiresAt: '2026-01-03T03:04:05.000Z' },
      ],
    });
  });

  describe('if a file of the same name exists', () => {
    const FILE_NAME = `${RUN}-1.png`;

    async function saveOverExistingFile(...flags: string[]) {
      const home = createTemporaryDirectory();
      writeFileSync(path.join(home, FILE_NAME), 'mine');
      const service = await startServiceWith(
        [{ type: 'image', data: '/media/a' }],
        expectDownload(createImageAnswer()),
      );
      const { stdout } = await runAgainst(service, [...RUN_IT, '--save', ...flags], { home });
      return { stdout: stdout(), existingFile: readFileSync(path.join(home, FILE_NAME)) };
    }

    it('chooses another name', async () => {
      const { stdout, existingFile } = await saveOverExistingFile();
      expect(stdout).toBe(`${RUN}-1_1.png\n`);
      expect(existingFile.toString()).toBe('mine');
    });

    it('overwrites it with --force', async () => {
      const { stdout, existingFile } = await saveOverExistingFile('--force');
      expect(stdout).toBe(`${FILE_NAME}\n`);
      expect(existingFile).toEqual(PICTURE);
    });
  });

  it('prints the path of each saved output in JSON', async () => {
    const service = await startServiceWith(
      [{ type: 'image', data: '/media/a' }],
      expectDownload(createImageAnswer()),
    );
    const { stdout } = await runAgainst(service, [
      ...RUN_IT,
      '--save',
      'x',
      '--query',
      'outputs[0].savedTo',
    ]);
    expect(stdout()).toBe(`${path.join('x', `${RUN}-1.png`)}\n`);
  });

  it.each<{ name: string; answer: PlainAnswer; message: string; proposesRetry: boolean }>([
    {
      name: 'has expired',
      answer: { status: 403, body: 'no' },
      message: 'live 24 hours',
      proposesRetry: false,
    },
    {
      name: 'is a page',
      answer: { headers: { 'content-type': 'text/html' }, body: '<html>' },
      message: 'returns text/html, not an image',
      proposesRetry: true,
    },
    {
      name: 'is cut short',
      answer: { ...createImageAnswer(), cutAfter: 10 },
      message: 'no complete answer',
      proposesRetry: true,
    },
    {
      name: 'is empty',
      answer: createImageAnswer(Buffer.alloc(0)),
      message: 'returned no bytes',
      proposesRetry: true,
    },
  ])(
    'exits with 1 if an image $name, after the results are printed, and leaves no partial file',
    async ({ answer, message, proposesRetry }) => {
      const home = createTemporaryDirectory();
      const service = await startServiceWith(
        [textOutput('good'), { type: 'image', data: '/media/a' }],
        {
          ...expectDownload(answer),
          times: 'any',
        },
      );
      const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, '--save', 'out'], {
        home,
      });

      expect({ exitCode, stdout: stdout() }).toEqual({
        exitCode: EXIT.fault,
        stdout: `good\n${service.origin}/media/a\n`,
      });
      expect(stderr()).toMatch(
        /^note: saved to out[\\/].*-1\.txt\nerror: output 2 was not saved: /,
      );
      expect(stderr()).toContain(message);
      expect(stderr().includes('Try again with')).toBe(proposesRetry);
      expect(readdirSync(path.join(home, 'out')).toSorted()).toEqual([
        `${RUN}-1.txt`,
        `${RUN}.json`,
      ]);
    },
  );

  it('names the run if --query fails on its result', async () => {
    const service = await startServiceWith([textOutput('good')]);
    const { exitCode, stdout, stderr } = await runAgainst(service, [
      ...RUN_IT,
      '--query',
      'length(tokens)',
    ]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.usage, stdout: '' });
    expect(JSON.parse(stderr())).toMatchObject({
      status: 'USAGE_ERROR',
      message: expect.stringContaining(`promptrun runs get ${RUN}`) as string,
      data: { runId: RUN },
    });
  });

  it.each(['out', 'out/pictures'])(
    'refuses --save %s before anything is sent if out is a file',
    async directory => {
      const home = createTemporaryDirectory();
      writeFileSync(path.join(home, 'out'), 'a file');
      const { exitCode, stderr } = await runAgainst(
        await startScriptedServiceForTest(),
        [...RUN_IT, '--save', directory],
        { home },
      );

      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toMatch(/^error: --save: \S+out is not a directory \(USAGE_ERROR\)\n/);
      expect(readdirSync(home)).toEqual(['out']);
    },
  );

  it.runIf(process.platform === 'linux')(
    'refuses a directory in which the system lets nobody write, before anything is sent',
    async () => {
      const service = await startScriptedServiceForTest();
      const { exitCode, stderr } = await runAgainst(service, [...RUN_IT, '--save', '/proc/x']);
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toContain(
        "--save: files can't be created in /proc: the system doesn't allow it",
      );
    },
  );

  it('exits with 1 after printing the results if the directory can no longer be created', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest({
      expect: { method: 'POST', path: '/runs' },
      answer: () => {
        writeFileSync(path.join(home, 'out'), 'a file');
        return success(succeededRun({ outputs: [textOutput('good')] }));
      },
    });
    const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, '--save', 'out'], {
      home,
    });

    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.fault, stdout: 'good\n' });
    expect(stderr()).toBe(
      `error: nothing was saved: ${path.join(home, 'out')} is not a directory (FILE_ERROR)\nTry again with: promptrun runs save ${RUN}\n`,
    );
  });

  it('says after an interruption that the run has ended, and how to save it', async () => {
    const service = await startServiceWith([{ type: 'image', data: '/media/a' }], {
      ...expectDownload(createImageAnswer()),
      answer: () => {
        running.raise('SIGINT');
        return 'silence';
      },
    });
    const running = startAgainst(service, [...RUN_IT, '--save']);
    expect(await running.ended).toBe(EXIT.interrupted);
    expect(running.stderr()).toBe(
      `error: interrupted; run ${RUN} succeeded, but not all of its outputs were saved (INTERRUPTED)\nSave them with: promptrun runs save ${RUN}\n`,
    );
  });

  it('writes only below the directory, whatever id the service gives the run', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      creation(succeededRun({ runId: '../../evil\u0000\n', outputs: [textOutput('x')] })),
    );
    expect((await runAgainst(service, [...RUN_IT, '--save', 'out'], { home })).exitCode).toBe(0);
    expect(readdirSync(path.join(home, 'out'))).toHaveLength(2);
    expect(readdirSync(home).toSorted()).toEqual(['out', 'state']);
  });

  it('detects the type of an image from its bytes if the server sends none', async () => {
    const service = await startServiceWith(
      [{ type: 'image', data: '/media/a' }],
      expectDownload(createImageAnswer(PICTURE, 'application/octet-stream')),
    );
    expect((await runAgainst(service, [...RUN_IT, '--save'])).stdout()).toBe(`${RUN}-1.png\n`);
  });
});

describe('--save -', () => {
  it('writes a text unchanged, without its own newline', async () => {
    const { stdoutBytes, stderr } = await runAgainst(
      await startServiceWithOutputs([textOutput('a\u0000b')]),
      [...RUN_IT, '--save', '-'],
    );
    expect(stdoutBytes()).toEqual(Buffer.from('a\u0000b'));
    expect(stderr()).toBe('');
  });

  it('writes the bytes of an image', async () => {
    const service = await startScriptedServiceForTest(
      {
        ...creation(),
        answer: () =>
          success(
            succeededRun({ outputs: [{ type: 'image', data: `${service.baseUrl}/media/1` }] }),
          ),
      },
      {
        expect: { path: '/media/1' },
        answer: { headers: { 'content-type': 'image/png' }, body: PICTURE },
      },
    );
    const { stdoutBytes, exitCode } = await runAgainst(service, [...RUN_IT, '--save', '-']);
    expect(stdoutBytes().equals(PICTURE)).toBe(true);
    expect(exitCode).toBe(0);
  });

  it.each([
    { retryAfterSeconds: 50, target: '-', repetition: `promptrun runs save ${RUN} --to -\n` },
    { retryAfterSeconds: 90, target: '-', repetition: `promptrun runs save ${RUN} --to -\n` },
    { retryAfterSeconds: 50, target: 'out', repetition: `promptrun runs save ${RUN}\n` },
    { retryAfterSeconds: 90, target: 'out', repetition: `promptrun runs save ${RUN}\n` },
  ])(
    'says how to save to $target what is ready only after --timeout, in $retryAfterSeconds s',
    async ({ retryAfterSeconds, target, repetition }) => {
      const busy = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, {
        'retry-after': String(retryAfterSeconds),
      });
      const service = await startScriptedServiceForTest(
        {
          ...creation(),
          answer: () =>
            success(
              succeededRun({ outputs: [{ type: 'image', data: `${service.baseUrl}/media/1` }] }),
            ),
        },
        { expect: { path: '/media/1' }, answer: busy },
      );

      const args = [...RUN_IT, '--timeout', '40s', '--save', target];

      const sleep = (_: number, signal?: AbortSignal): Promise<void> =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });

      const { exitCode, stderr } = await runAgainst(service, args, { clock: { sleep } });

      expect(stderr()).toContain(repetition);
      expect(exitCode).toBe(EXIT.waitTimeout);
    },
  );

  it.each([
    [[textOutput('a'), textOutput('b')], '2 outputs'],
    [[], 'no output'],
  ])('refuses the outputs %j, and names the run', async (outputs, problem) => {
    const { stdout, stderr, exitCode } = await runAgainst(await startServiceWithOutputs(outputs), [
      ...RUN_IT,
      '--save',
      '-',
    ]);
    expect(stderr()).toContain(`error: run ${RUN} has ${problem}`);
    expect(stderr()).toContain(`promptrun runs save ${RUN} --to <dir>`);
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    { name: 'with --json', flags: ['--json'], options: {} },
    { name: 'on a terminal', flags: [], options: { terminal: { stdout: true } } },
  ])('is refused $name, before anything is sent', async ({ flags, options }) => {
    const argv = [...RUN_IT, '--save', '-', ...flags];
    const { exitCode } = await runAgainst(await startScriptedServiceForTest(), argv, options);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('reports the errors of a failed run, and exits with 5', async () => {
    const outputs = [{ type: 'error', data: 'broke' }];
    const { stdout, stderr, exitCode } = await runAgainst(
      await startServiceWithOutputs(outputs, { runStatus: 'failed' }),
      [...RUN_IT, '--save', '-'],
    );
    expect(stdout()).toBe('');
    expect(stderr()).toBe(`error: broke\nnote: run ${RUN} failed\n`);
    expect(exitCode).toBe(EXIT.runFailed);
  });
});
