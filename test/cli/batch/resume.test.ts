import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type BatchResult,
  homeWith,
  lastLines,
  localService,
  runBatchCommand,
  type TestService,
} from './support.ts';

const NAMES = 'name\nAda\nBo\nEve\n';
const DONE = (row: number): string =>
  `{"row":${row},"id":"${row}","runId":"${randomUUID()}","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n`;
const FAILED = (row: number): string =>
  `{"row":${row},"id":"${row}","runId":null,"runStatus":"failed","outputs":[],"tokens":0,"error":"no"}\n`;
const CREATING = (row: number): string => `{"row":${row},"id":"${row}","runStatus":"creating"}\n`;

let service: TestService;
let before = 0;
beforeAll(async () => {
  service = await localService({ syncWindowMs: 60_000 }, afterAll);
});
beforeEach(async () => {
  before = (await service.runs()).length;
});

const created = async (): Promise<number> => (await service.runs()).length - before;

/** Goes on with a batch of three names whose results so far are these. */
async function resume(
  results: string,
  flags: readonly string[] = [],
  rows = NAMES,
): Promise<BatchResult & { home: string }> {
  const home = homeWith({ 'names.csv': rows, 'results.jsonl': results });
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume', ...flags];
  return { home, ...(await runBatchCommand(args, { env: service.env, home })) };
}

test('rows that succeeded are left, the others run', async () => {
  const { exitCode, home } = await resume(DONE(1) + DONE(3));
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home).map(({ runStatus }) => runStatus)).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

test('a file that is not there yet is begun', async () => {
  const home = homeWith({ 'names.csv': NAMES });
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(0);
  expect(await created()).toBe(3);
});

test('rows that failed run again only with --retry-failed, and count as failed until then', async () => {
  const results = DONE(1) + FAILED(2) + DONE(3);
  expect((await resume(results)).exitCode).toBe(5);
  expect(await created()).toBe(0);
  const { exitCode, home } = await resume(results, ['--retry-failed']);
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ row: 2, runStatus: 'succeeded' });
});

test('a row whose creation is in doubt runs again only with --retry-unknown', async () => {
  const results = DONE(1) + CREATING(2) + DONE(3);
  const left = await resume(results, ['--retry-failed']);
  expect(left.exitCode).toBe(5);
  expect(left.stderr).toContain('1 in doubt');
  expect(await created()).toBe(0);
  expect((await resume(results, ['--retry-unknown'])).exitCode).toBe(0);
  expect(await created()).toBe(1);
});

test('a row whose creation was told off before a crash is in no doubt', async () => {
  const { exitCode } = await resume(
    `${DONE(1)}${CREATING(2)}{"row":2,"id":"2","runStatus":"waiting"}\n${DONE(3)}`,
  );
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
});

test('a row whose run is known is waited for, not created', async () => {
  const first = homeWith({ 'names.csv': 'name\nZoe\n' });
  await runBatchCommand(['hello', '--from', 'names.csv', '--out', 'results.jsonl'], {
    env: service.env,
    home: first,
  });
  const runId = lastLines(first)[0]?.runId;
  const going = `{"row":2,"id":"2","runId":"${runId}","runStatus":"running","outputs":[],"tokens":0,"error":null}\n`;
  const { exitCode, home } = await resume(DONE(1) + CREATING(2) + going + DONE(3));
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
  expect(lastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
});

test('a known run that is gone fails its row', async () => {
  const going = `{"row":2,"id":"2","runId":"${randomUUID()}","runStatus":"running","outputs":[],"tokens":0,"error":null}\n`;
  const { exitCode, home } = await resume(DONE(1) + going + DONE(3));
  expect(exitCode).toBe(5);
  expect(lastLines(home)[1]).toMatchObject({ runStatus: 'failed' });
  expect(lastLines(home)[1]?.error).toContain('NOT_FOUND_ERROR');
  expect(await created()).toBe(0);
});

test.each([
  ['nothing was sent yet', '{"row":2,"id', 1],
  ['a step that was never finished', '{"row":2,"id":"2","runStatus":"crea', 1],
  ['only its first letter', '{', 1],
])('a last line that a crash tore is cut off: %s', async (_, torn, runs) => {
  const { exitCode, home, stderr } = await resume(DONE(1) + DONE(3) + torn);
  expect(exitCode).toBe(0);
  expect(await created()).toBe(runs);
  expect(stderr).toContain('has been mended');
  expect(lastLines(home)).toHaveLength(3);
});

test('a torn line after its creation leaves the row in doubt', async () => {
  const { exitCode } = await resume(`${DONE(1)}${DONE(3)}${CREATING(2)}{"row":2,"id":"2","run`);
  expect(exitCode).toBe(5);
  expect(await created()).toBe(0);
});

test('a torn line that still names its run is gone on with', async () => {
  const first = homeWith({ 'names.csv': 'name\nZoe\n' });
  await runBatchCommand(['hello', '--from', 'names.csv', '--out', 'results.jsonl'], {
    env: service.env,
    home: first,
  });
  const runId = lastLines(first)[0]?.runId;
  const torn = `${CREATING(2)}{"row":2,"id":"2","runId":"${runId}","runSta`;
  const { exitCode, home } = await resume(DONE(1) + DONE(3) + torn);
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
});

test('a last line that only lacks its end counts', async () => {
  const { exitCode } = await resume(DONE(1) + DONE(3) + DONE(2).trimEnd());
  expect(exitCode).toBe(0);
  expect(await created()).toBe(0);
});

test.each([
  ['another kind of file', 'name\nAda\n'],
  ['another kind of file without an end', 'dear diary'],
  ['JSON of another kind', '{"a":1}\n'],
  ['one bad line among good ones', '{"row":1,"id":"1","runStatus":"failed"}\noops\n'],
])('%s is refused and left as it is', async (_, content) => {
  const { exitCode, stderr, home } = await resume(content);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('this is not a result of a batch');
  expect(readFileSync(path.join(home, 'results.jsonl'), 'utf8')).toBe(content);
});

test('results of rows that the input does not hold are noticed', async () => {
  const { exitCode, stderr } = await resume(DONE(1) + DONE(4));
  expect(exitCode).toBe(2);
  expect(stderr).toContain('has a result of row "4", which names.csv does not hold');
  expect(await created()).toBe(0);
});

test('rows are known again by their ids, wherever they stand', async () => {
  const done =
    '{"row":1,"id":"bo","runId":"x","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n';
  const { exitCode } = await resume(done, [], 'id,name\nada,Ada\nbo,Bo\n');
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
});

test('a row that was mended may go by another id', async () => {
  const { exitCode } = await resume(FAILED(1), ['--retry-failed'], 'id,name\nada,Ada\n');
  expect(exitCode).toBe(0);
});

test('a second batch on the same file is refused while the first one runs', async () => {
  const home = homeWith({ 'rows.jsonl': '{"note":"a"}\n' });
  const args = [
    'sandbox',
    '--from',
    'rows.jsonl',
    '--out',
    'results.jsonl',
    '--resume',
    '-o',
    'delaySeconds=1',
  ];
  const first = runBatchCommand(args, { env: service.env, home });
  for (;;) {
    if (readOr(path.join(home, 'results.jsonl')).includes('creating')) break;
    await new Promise(resolve => setImmediate(resolve));
  }
  const second = await runBatchCommand(args, { env: service.env, home });
  expect(second.exitCode).toBe(2);
  expect(second.stderr).toContain('another batch is writing to results.jsonl');
  expect((await first).exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(0);
});

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

test('an output file that could not be fetched is fetched again, its run not created again', async () => {
  const home = homeWith({ 'rows.csv': 'place\nLisbon\n', pictures: 'in the way' });
  const args = ['postcard', '--from', 'rows.csv', '--out', 'results.jsonl', '--save', 'pictures'];
  const first = await runBatchCommand(args, { env: service.env, home });
  expect(first.exitCode).toBe(5);
  expect(lastLines(home)[0]).toMatchObject({ runStatus: 'succeeded' });
  expect(lastLines(home)[0]?.error).toContain('not all saved');
  const second = await runBatchCommand([...args.slice(0, -1), 'other', '--resume'], {
    env: service.env,
    home,
  });
  expect(second.exitCode).toBe(0);
  expect(lastLines(home)[0]?.outputs?.[0]?.savedTo).toMatch(/^other/u);
  expect(await created()).toBe(1);
});
