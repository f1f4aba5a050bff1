import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { requestDigest } from '../../../src/cli/inputs/request-body.ts';
import { lockFile } from '../../../src/files/writing/lock.ts';
import { fileIn } from '../../../src/files/writing/write-below.ts';
import { localService as embedded } from '../../../src/main.ts';
import { type BatchResult, lastLines, resultLines, runBatchCommand } from '../../support/batch-command.ts';
import { directoryWith, TEST_NOW } from '../../support/context.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { type ServiceForTest, startServiceForTest } from '../../support/service-for-test.ts';

const NAMES = 'name\nAda\nBo\nEve\n';
const DONE = (row: number): string =>
  `{"row":${row},"id":"${row}","runId":"${randomUUID()}","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n`;
const FAILED = (row: number): string =>
  `{"row":${row},"id":"${row}","runId":null,"runStatus":"failed","outputs":[],"tokens":0,"error":"no"}\n`;
const SLEEPY = ['sandbox', '--from', 'rows.jsonl', '--out', 'results.jsonl', '-o', 'delaySeconds=1'];

let service: ServiceForTest;
let before = 0;
beforeAll(async () => {
  service = await startServiceForTest({ syncWindowMs: 60_000 }, afterAll);
});
beforeEach(async () => {
  before = (await service.runs()).length;
});

const created = async (): Promise<number> => (await service.runs()).length - before;

/** Resumes a batch of three names with these results so far; with a journal, unless it has to be missing. */
async function resume(
  results: string,
  flags: readonly string[] = [],
  { rows = NAMES, steps = [], journal = true }: { rows?: string; steps?: object[]; journal?: boolean } = {},
): Promise<BatchResult & { home: string }> {
  const home = directoryWith({ 'names.csv': rows, 'results.jsonl': results });
  if (journal) writeJournal(home, await findVersion('hello'), steps);
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume', ...flags];
  return { home, ...(await runBatchCommand(args, { env: service.env, home })) };
}

function writeJournal(
  home: string,
  promptVersionId: string,
  steps: readonly object[],
  out = 'results.jsonl',
): void {
  const first = { batch: 1, service: service.service.url, promptVersionId, options: {} };
  const lines = [first, ...steps].map(line => `${JSON.stringify(line)}\n`);
  writeFileSync(path.join(home, `${out}.journal`), lines.join(''));
}

async function findVersion(slug: string): Promise<string> {
  const answer = await fetch(`${service.service.url}/prompts/publish?q=${slug}`, {
    headers: { authorization: `Bearer ${service.service.sessionKey}` },
  });
  const { data } = (await answer.json()) as { data: { rows: { slug: string; promptVersionId: string }[] } };
  return data.rows.find(row => row.slug === slug)?.promptVersionId ?? '';
}

/** Returns a creation of a row whose process died, as the journal has it. */
async function creating(row: number, name: string, more: object = {}): Promise<object> {
  const request = { promptVersionId: '', text: new Map([['name', name]]), images: [], options: new Map() };
  return {
    row,
    id: String(row),
    state: 'creating',
    digest: requestDigest(request),
    journalId: randomUUID(),
    promptVersionId: await findVersion('hello'),
    time: new Date(Date.now() - 60_000).toISOString(),
    ...more,
  };
}

test('rows that succeeded are left, the others run', async () => {
  const { exitCode, home, stderr } = await resume(DONE(1) + DONE(3));
  expect(exitCode).toBe(0);
  expect(stderr).toContain('note: 1 of 3 rows succeeded now, 2 before\nnote: now: 1 run took ');
  expect(stderr).toMatch(/^note: in all: 3 runs took /mu);
  expect(await created()).toBe(1);
  expect(lastLines(home).map(({ runStatus }) => runStatus)).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

test('a results file that does not exist yet is created', async () => {
  const home = directoryWith({ 'names.csv': NAMES });
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(0);
  expect(await created()).toBe(3);
});

test('rows that failed run again only with --retry-failed, and count as failed until then', async () => {
  const results = DONE(1) + FAILED(2) + DONE(3);
  const left = await resume(results);
  expect(left.exitCode).toBe(5);
  expect(left.stderr).toContain('note: 0 of 3 rows succeeded now, 2 before, 0 failed now, 1 before\n');
  expect(left.stderr).toContain('note: now: no run was made\nnote: in all: 2 runs took ');
  expect(await created()).toBe(0);
  const { exitCode, home } = await resume(results, ['--retry-failed']);
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ row: 2, runStatus: 'succeeded' });
});

test('a creation in doubt is sent once more under its key, which returns the same run', async () => {
  const step = await creating(2, 'Bo');
  const { journalId, promptVersionId } = step as { journalId: string; promptVersionId: string };
  await fetch(`${service.service.url}/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.service.sessionKey}`,
      'content-type': 'application/json',
      'idempotency-key': journalId,
    },
    body: JSON.stringify({ promptVersionId, inputs: { textInputs: { name: 'Bo' } } }),
  });
  const time = new Date(TEST_NOW - 60_000).toISOString();
  const { exitCode, home } = await resume(DONE(1) + DONE(3), [], { steps: [{ ...step, time }] });
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]?.outputs?.[0]?.data).toContain('Bo');
  expect(existsSync(path.join(home, 'results.jsonl.journal'))).toBe(false);
});

test('a creation in doubt whose key has expired and that made no run has failed', async () => {
  const step = await creating(2, 'Bo');
  const time = new Date(TEST_NOW - 30 * 3_600_000).toISOString();
  const { exitCode, stderr } = await resume(DONE(1) + DONE(3), [], { steps: [{ ...step, time }] });
  expect(exitCode).toBe(5);
  expect(await created()).toBe(0);
  expect(stderr).toContain(
    'error: names.csv line 3 (row 2): the creation was never answered, and the service has no matching run (NOT_FOUND_ERROR)\nnote: ',
  );
});

test('a row whose creation was refused before a crash is not in doubt', async () => {
  const steps = [await creating(2, 'Bo'), { row: 2, id: '2', state: 'waiting' }];
  expect((await resume(DONE(1) + DONE(3), [], { steps })).exitCode).toBe(0);
  expect(await created()).toBe(1);
});

/** Returns the id of a run of Zoe. */
async function runOfZoe(): Promise<string> {
  const first = directoryWith({ 'names.csv': 'name\nZoe\n' });
  await runBatchCommand(['hello', '--from', 'names.csv', '--out', 'results.jsonl'], {
    env: service.env,
    home: first,
  });
  return lastLines(first)[0]?.runId ?? '';
}

test('a row whose run is known is waited for, not created', async () => {
  const runId = await runOfZoe();
  const steps = [await creating(2, 'Bo'), { row: 2, id: '2', state: 'running', runId }];
  const { exitCode, home } = await resume(DONE(1) + DONE(3), [], { steps });
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
  expect(lastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
});

test("a run that only the machine's journal knows is waited for", async () => {
  const runId = await runOfZoe();
  const step = await creating(2, 'Bo');
  const { journalId: id, time, promptVersionId } = step as Record<string, string>;
  const home = directoryWith({ 'names.csv': NAMES, 'results.jsonl': DONE(1) + DONE(3) });
  writeJournal(home, promptVersionId ?? '', [step]);
  mkdirSync(path.join(home, 'state'));
  const entry = { id, time, baseUrl: service.service.url, promptVersionId, inputsDigest: '' };
  const lines = [entry, { id, outcome: 'created', runId }].map(line => `${JSON.stringify(line)}\n`);
  writeFileSync(path.join(home, 'state', 'journal.jsonl'), lines.join(''));
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ runId });
});

test('a result that a crash kept from the file is fetched, not paid for again', async () => {
  const runId = await runOfZoe();
  const steps = [await creating(2, 'Bo'), { row: 2, id: '2', state: 'succeeded', runId, error: null }];
  const { exitCode, home } = await resume(DONE(1) + DONE(3), [], { steps });
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(lastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
});

describe('rows that have changed since they were sent', () => {
  const inserted = 'name\nAda\nNew\nBo\nEve\n';

  test.each([
    ['an inserted line', inserted, []],
    ['another -i', NAMES, ['-i', 'name=Zoe']],
  ])('are refused before anything is sent: %s', async (_, rows, flags) => {
    const steps = [
      await creating(1, 'Ada'),
      { row: 1, id: '1', state: 'succeeded', runId: 'x' },
      await creating(2, 'Bo'),
      { row: 2, id: '2', state: 'succeeded', runId: 'y' },
    ];
    const { exitCode, stderr } = await resume(DONE(1) + DONE(2), flags, { rows, steps });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/since (it was|they were) sent: (its|their) inputs, version or options differ/);
    expect(stderr).toContain('--changed run');
    expect(await created()).toBe(0);
  });

  test('are refused if another version is run', async () => {
    const steps = [await creating(1, 'Ada', { promptVersionId: randomUUID() })];
    const { exitCode } = await resume('', [], { steps });
    expect(exitCode).toBe(2);
    expect(await created()).toBe(0);
  });

  test('are refused if they come from standard input', async () => {
    const done = DONE(1);
    const { runId } = JSON.parse(done) as { runId: string };
    const home = directoryWith({ 'results.jsonl': done });
    const ended = { row: 1, id: '1', state: 'succeeded', runId };
    writeJournal(home, await findVersion('hello'), [await creating(1, 'Ada'), ended]);
    const args = ['hello', '--from', '-', '--format', 'csv', '--out', 'results.jsonl', '--resume'];
    const changed = await runBatchCommand(args, { env: service.env, home, stdin: 'name\nZoe\nBo\n' });
    expect(changed.exitCode).toBe(2);
    expect(changed.stderr).toContain('(standard input line 2) has changed since it was sent');
    expect(await created()).toBe(0);
    const same = await runBatchCommand(args, { env: service.env, home, stdin: 'name\nAda\nBo\n' });
    expect(same.stderr).toContain('1 of 2 rows succeeded now, 1 before');
    expect(await created()).toBe(1);
  });

  test.each([
    ['run', 'Zoe', 1],
    ['skip', undefined, 0],
  ])('--changed %s decides otherwise', async (decision, name, runs) => {
    const runId = randomUUID();
    const ended = { row: 2, id: '2', state: 'succeeded', runId };
    const done = DONE(2).replace(/"runId":"[^"]+"/u, `"runId":"${runId}"`);
    const steps = [await creating(2, 'Bo'), ended];
    const rows = 'name\nAda\nZoe\nEve\n';
    const flags = ['--changed', decision];
    const { exitCode, home } = await resume(DONE(1) + done + DONE(3), flags, { rows, steps });
    expect(exitCode).toBe(0);
    expect(await created()).toBe(runs);
    expect(resultLines(home)).toHaveLength(3);
    if (name === undefined) expect(lastLines(home)[1]).toMatchObject({ runId });
    else expect(lastLines(home)[1]?.outputs?.[0]?.data).toContain(name);
  });
});

describe('without its journal', () => {
  test('rows that have no result are refused, unless they are said to be new', async () => {
    const refused = await resume(DONE(1) + DONE(2), [], { journal: false });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('--new-rows');
    expect(await created()).toBe(0);
    const { exitCode } = await resume(DONE(1) + DONE(2), ['--new-rows'], { journal: false });
    expect(exitCode).toBe(0);
    expect(await created()).toBe(1);
  });

  test('a batch that is complete has nothing to do', async () => {
    const { exitCode } = await resume(DONE(1) + DONE(2) + DONE(3), [], { journal: false });
    expect(exitCode).toBe(0);
    expect(await created()).toBe(0);
  });

  describe('rows that have changed since they were run here', () => {
    const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl'];
    const batch = (home: string, ...flags: string[]): Promise<BatchResult> =>
      runBatchCommand([...args, ...flags], { env: service.env, home });

    test('are refused, or treated as --changed says', async () => {
      const home = directoryWith({ 'names.csv': 'name\nAda\nBo\n' });
      expect((await batch(home)).exitCode).toBe(0);
      writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nZoe\n');
      const refused = await batch(home, '--resume');
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain('row "2" (names.csv line 3) has changed since it was sent');
      expect((await batch(home, '--resume', '--changed', 'skip')).stderr).toContain(
        '0 of 2 rows succeeded now',
      );
      expect(await created()).toBe(2);
      expect((await batch(home, '--resume', '--changed', 'run')).exitCode).toBe(0);
      expect(await created()).toBe(3);
      expect(lastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
      expect((await batch(home, '--resume')).exitCode).toBe(0);
      expect(await created()).toBe(3);
    });

    test('are refused if another prompt is run', async () => {
      const home = directoryWith({ 'notes.csv': 'note\na\n', 'names.csv': 'name\nAda\n' });
      expect((await batch(home)).exitCode).toBe(0);
      const other = ['sandbox', '--from', 'notes.csv', '--out', 'results.jsonl', '--resume'];
      const { exitCode, stderr } = await runBatchCommand(other, { env: service.env, home });
      expect(stderr).toContain('row "1" (notes.csv line 2) has changed since it was sent');
      expect(exitCode).toBe(2);
      expect(await created()).toBe(1);
    });
  });

  test('failed rows run again, one line a row stays', async () => {
    const results = DONE(3) + FAILED(2) + DONE(1);
    const { exitCode, home } = await resume(results, ['--retry-failed'], { journal: false });
    expect(exitCode).toBe(0);
    expect(resultLines(home).map(({ row }) => row)).toEqual([3, 1, 2]);
  });
});

test('a known run that is gone fails its row, and is asked for again by --retry-failed', async () => {
  const steps = [await creating(2, 'Bo'), { row: 2, id: '2', state: 'running', runId: randomUUID() }];
  const { exitCode, home } = await resume(DONE(1) + DONE(3), [], { steps });
  expect(exitCode).toBe(5);
  expect(lastLines(home)[1]).toMatchObject({ runStatus: 'failed' });
  expect(lastLines(home)[1]?.error).toContain('NOT_FOUND_ERROR');
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume', '--retry-failed'];
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(5);
  expect(await created()).toBe(0);
});

test.each([
  ['nothing of it says anything', '{"row":2,"id'],
  ['all but its end', DONE(2).slice(0, -20)],
  ['only its first letter', '{'],
])('a last line that a crash tore is cut off: %s', async (_, torn) => {
  const { exitCode, home, stderr } = await resume(DONE(1) + DONE(3) + torn);
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
  expect(stderr).toContain('has been repaired');
  expect(lastLines(home)).toHaveLength(3);
});

test('a torn last line of the journal counts as a step that was not taken', async () => {
  const home = directoryWith({ 'names.csv': NAMES, 'results.jsonl': DONE(1) + DONE(3) });
  writeJournal(home, await findVersion('hello'), []);
  appendFileSync(path.join(home, 'results.jsonl.journal'), '{"row":2,"id":"2","state":"crea');
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatchCommand(args, { env: service.env, home })).exitCode).toBe(0);
  expect(await created()).toBe(1);
});

test('a last line that only lacks its line break counts', async () => {
  const { exitCode } = await resume(DONE(1) + DONE(3) + DONE(2).trimEnd());
  expect(exitCode).toBe(0);
  expect(await created()).toBe(0);
});

test.each([
  ['another kind of file', 'name\nAda\n'],
  ['another kind of file without an end', 'dear diary'],
  ['JSON of another kind', '{"a":1}\n'],
  ['one bad line among good ones', '{"row":1,"id":"1","runStatus":"failed"}\noops\n'],
])('%s is refused and stays unchanged', async (_, content) => {
  const { exitCode, stderr, home } = await resume(content);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('this is not a result of a batch');
  expect(readFileSync(path.join(home, 'results.jsonl'), 'utf8')).toBe(content);
});

test('results of rows that are missing in the input are reported', async () => {
  const { exitCode, stderr } = await resume(DONE(1) + DONE(4));
  expect(exitCode).toBe(2);
  expect(stderr).toContain('has a result of row "4", which is not in names.csv');
  expect(await created()).toBe(0);
});

test('rows are recognised by their ids, in any order', async () => {
  const done =
    '{"row":1,"id":"bo","runId":"x","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n';
  const { exitCode } = await resume(done, [], { rows: 'id,name\nada,Ada\nbo,Bo\n' });
  expect(exitCode).toBe(0);
  expect(await created()).toBe(1);
});

test('a corrected row may have another id', async () => {
  const { exitCode } = await resume(FAILED(1), ['--retry-failed'], { rows: 'id,name\nada,Ada\n' });
  expect(exitCode).toBe(0);
});

test.each([
  ['rows.csv', 'name,shout\nAda,true\nBo,maybe\n', 'name,shout\nAda,true\nBo,false\n', 'results.csv'],
  ['rows.csv', 'name,shout\nAda,true\nBo,maybe\n', 'name,shout\nAda,true\nBo,false\n', 'results.jsonl'],
  [
    'rows.jsonl',
    '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"\n',
    '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"}\n',
    'results.jsonl',
  ],
])('the advice after faulty rows of %s works once they are corrected', async (rows, faulty, correct, out) => {
  const prompt =
    '---\nmodel: echo\ninput:\n  schema:\n    name: string\n    shout?: boolean\n---\nHi {{name}}\n';
  const home = directoryWith({ 'hi.prompt': prompt, [rows]: faulty });
  const args = ['hi.prompt', '--from', rows, '--out', out];
  const first = await runBatchCommand(args, { home, env: {}, local: embedded });
  expect(first.exitCode).toBe(5);
  expect(first.stderr).toContain(
    'Correct the faulty rows. Run the failed ones again with: --resume --retry-failed --new-rows',
  );

  writeFileSync(path.join(home, rows), correct);
  const again = await runBatchCommand([...args, '--resume', '--retry-failed', '--new-rows'], {
    home,
    env: {},
    local: embedded,
  });
  expect(again).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('1 of 2 rows succeeded now, 1 before'),
  });
  const results = readFileSync(path.join(home, out), 'utf8');
  expect(results.match(/succeeded/gu)).toHaveLength(2);
  expect(results).not.toContain('failed');
});

test('a corrected row counts as new, because the journal that knew it is gone', async () => {
  const home = directoryWith({
    'rows.csv': 'name\nAda\n',
    'results.csv': 'name,runId,runStatus,error,output1\nAd,,failed,x,\n',
  });
  const args = ['hello', '--from', 'rows.csv', '--out', 'results.csv', '--resume', '--retry-failed'];
  const { exitCode, stderr } = await runBatchCommand(args, { home, env: {}, local: embedded });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('If the rows without a result are new or corrected, add --new-rows.');
});

test('--resume --dry-run checks and prices only the rows that are left, and changes no file', async () => {
  const home = directoryWith({ 'names.csv': NAMES, 'results.jsonl': DONE(1) });
  const options = { home, env: {}, local: embedded };
  const args = [
    'hello',
    '--from',
    'names.csv',
    '--out',
    'results.jsonl',
    '--resume',
    '--new-rows',
    '--dry-run',
  ];
  const { exitCode, stderr, stdout } = await runBatchCommand([...args, '--json'], options);
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 2, creations: 2 });
  expect(stderr).toContain('2 rows checked, 0 invalid, 1 more stay as they are; nothing was created');
  expect(readdirSync(home).filter(name => name.startsWith('results'))).toEqual(['results.jsonl']);
  expect(lastLines(home)).toHaveLength(1);
});

test('--resume starts no new batch if the name of the results is misspelt', async () => {
  const home = directoryWith({ 'names.csv': NAMES, 'results.jsonl': DONE(1) + DONE(2) + DONE(3) });
  const resume = (out: string): Promise<BatchResult> =>
    runBatchCommand(['hello', '--from', 'names.csv', '--out', out, '--resume'], { env: service.env, home });
  const misspelt = await resume('resluts.jsonl');
  expect(misspelt).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'error: --resume: resluts.jsonl does not exist; did you mean results.jsonl?',
    ),
  });
  expect(await created()).toBe(0);
  const other = await resume('others.jsonl');
  expect(other.exitCode).toBe(0);
  expect(other.stderr).toContain('note: others.jsonl does not exist, so no row has been run before');
  // The parts of a batch are numbered, or named.
  expect((await resume('others2.jsonl')).exitCode).toBe(0);
  expect((await resume('othere.jsonl')).exitCode).toBe(0);
});

test('a result of a run that no row of a table has is never lost', async () => {
  const table = 'name,runId,runStatus,error,output1\nAda,r1,succeeded,,Hi\n';
  const home = directoryWith({ 'rows.csv': 'name\nGrace\n', 'results.csv': table });
  const args = ['hello', '--from', 'rows.csv', '--out', 'results.csv', '--resume', '--new-rows'];
  const { exitCode, stderr } = await runBatchCommand(args, { home, env: {}, local: embedded });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('results.csv has a result of run r1, which is not in rows.csv');
  expect(readFileSync(path.join(home, 'results.csv'), 'utf8')).toBe(table);
});

test('a second batch on the same file is refused while the first one runs', async () => {
  const home = directoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
  const args = [...SLEEPY, '--resume'];
  // Its creation is answered at once, and it asks for its run only once the second batch has ended.
  const serviceClock = new HandClock();
  const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
  let letGoOn = (): void => {};
  const refused = new Promise<void>(resolve => {
    letGoOn = resolve;
  });
  const clock = hastyClock(() => refused.then(() => serviceClock.advance(1000)));
  const first = runBatchCommand(args, { env, home, clock });
  await expect.poll(() => readOr(path.join(home, 'results.jsonl.journal'))).toContain('creating');
  const second = await runBatchCommand(args, { env, home });
  letGoOn();
  expect(second.exitCode).toBe(2);
  expect(second.stderr).toContain('another batch is writing to results.jsonl');
  expect((await first).exitCode).toBe(0);
  expect(await runs()).toHaveLength(1);
  expect((await runBatchCommand(args, { env, home })).exitCode).toBe(0);
});

test.each([
  ['results.jsonl', 'removed', undefined],
  ['results.jsonl', 'replaced', ''],
  ['results.csv', 'removed', undefined],
])(
  'results in %s that are %s in the middle are missed, and fetched again without a run',
  async (out, what, saved) => {
    const home = directoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
    const file = path.join(home, out);
    const args = SLEEPY.map(arg => (arg === 'results.jsonl' ? out : arg));
    const serviceClock = new HandClock();
    const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
    const clock = hastyClock(async () => {
      rmSync(file, { force: true });
      if (saved !== undefined) writeFileSync(file, saved);
      serviceClock.advance(1000);
    });
    const first = await runBatchCommand(args, { env, home, clock });
    expect(first.exitCode).toBe(1);
    expect(first.stderr).toContain(
      `${out} was ${what === 'removed' ? 'moved or removed' : what} while the batch wrote it`,
    );
    expect(first.stderr).toContain('add --resume');
    const second = await runBatchCommand([...args, '--resume'], { env, home });
    expect(second.exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('succeeded');
    expect(await runs()).toHaveLength(1);
  },
);

test('a batch waits up to a second for the lock of a process that is being killed', async () => {
  const home = directoryWith({ 'rows.csv': 'name\nAda\n' });
  const lock = lockFile(fileIn(path.join(home, 'results.jsonl')));
  const args = ['hello', '--from', 'rows.csv', '--out', 'results.jsonl'];
  const clock = hastyClock(async () => lock?.());
  const { exitCode } = await runBatchCommand(args, { env: service.env, home, clock });
  expect(exitCode).toBe(0);
});

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

test('an output file that could not be fetched is fetched again, its run not created again', async () => {
  const home = directoryWith({ 'rows.csv': 'place\nLisbon\n' });
  // A name that the file system does not take.
  const pictures = 'p'.repeat(300);
  const args = ['postcard', '--from', 'rows.csv', '--out', 'results.jsonl', '--save', pictures];
  const first = await runBatchCommand(args, { env: service.env, home });
  expect(first.exitCode).toBe(5);
  expect(lastLines(home)[0]).toMatchObject({ runStatus: 'succeeded' });
  expect(lastLines(home)[0]?.error).toMatch(/not all of its outputs were saved: .*\(FILE_ERROR\)$/u);
  const second = await runBatchCommand([...args.slice(0, -1), 'other', '--resume'], {
    env: service.env,
    home,
  });
  expect(second.exitCode).toBe(0);
  expect(lastLines(home)[0]?.outputs?.[0]?.savedTo).toMatch(/^other/u);
  expect(await created()).toBe(1);
});

describe('a table of results', () => {
  const table = (home: string): string[][] =>
    readFileSync(path.join(home, 'results.csv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => line.split(','));
  const args = ['hello', '--from', 'names.csv', '--out', 'results.csv', '--concurrency', '1'];

  test("has the rows' own columns, then what became of them", async () => {
    const home = directoryWith({ 'names.csv': 'id,name\na,Ada\nb,\nc,Eve\n' });
    const { exitCode } = await runBatchCommand(args, { env: service.env, home });
    expect(exitCode).toBe(5);
    const [header, ada, bo, eve] = table(home);
    expect(header).toEqual(['id', 'name', 'runId', 'runStatus', 'error', 'output1']);
    expect(ada?.slice(0, 2)).toEqual(['a', 'Ada']);
    expect(bo?.slice(0, 4)).toEqual(['b', '', '', 'failed']);
    expect(bo).toHaveLength(6);
    expect(eve?.[3]).toBe('succeeded');
    expect(existsSync(path.join(home, 'results.csv.journal'))).toBe(false);
  });

  test('can be resumed: its rows are recognised by their columns, each in one line', async () => {
    const home = directoryWith({ 'names.csv': 'name\nAda\n\n' });
    await runBatchCommand(args, { env: service.env, home });
    const before = table(home);
    writeFileSync(path.join(home, 'names.csv'), 'name\nBo\nAda\n');
    const flags = ['--resume', '--new-rows', '--sorted'];
    expect((await runBatchCommand([...args, ...flags], { env: service.env, home })).exitCode).toBe(0);
    expect(await created()).toBe(2);
    expect(table(home)[2]).toEqual(before[1]);
    expect(table(home)[1]?.[0]).toBe('Bo');
  });

  test.each(['before its first row', 'at its first row'])(
    'keeps its results if a batch of more rows dies %s',
    async when => {
      const home = directoryWith({ 'names.csv': 'name\nAda\nBo\n' });
      await runBatchCommand(args, { env: service.env, home });
      const [, ada, bo] = table(home);
      writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nBo\nCy\n');
      const steps = when.startsWith('at')
        ? [await creating(3, 'Cy'), { row: 3, id: '3', state: 'waiting' }]
        : [];
      writeJournal(home, await findVersion('hello'), steps, 'results.csv');
      if (when.startsWith('at')) appendFileSync(path.join(home, 'results.csv'), 'Cy,5e0f');
      const { exitCode, stderr } = await runBatchCommand([...args, '--resume'], { env: service.env, home });
      expect(exitCode).toBe(0);
      expect(stderr).toContain('note: 1 of 3 rows succeeded now, 2 before');
      expect(await created()).toBe(3);
      expect(table(home).slice(1, 3)).toEqual([ada, bo]);
      expect(table(home)[3]?.[0]).toBe('Cy');
    },
  );

  test.each(['na', '\0'.repeat(64), ''])(
    'is made anew from the journal if a crash left %j of it',
    async torn => {
      const home = directoryWith({ 'names.csv': 'name\nCy\n', 'results.csv': torn });
      const runId = randomUUID();
      const result = { row: 1, cells: { name: 'Cy' }, values: [runId, 'succeeded', '', 'Hello'] };
      const end = { row: 1, id: '1', state: 'succeeded', runId, error: null, result };
      writeJournal(home, await findVersion('hello'), [await creating(1, 'Cy'), end], 'results.csv');
      expect((await runBatchCommand([...args, '--resume'], { env: service.env, home })).exitCode).toBe(0);
      expect(table(home)[1]).toEqual(['Cy', runId, 'succeeded', '', 'Hello']);
      expect(await created()).toBe(0);
    },
  );

  test('puts its results before those of a batch of more rows that died', async () => {
    const home = directoryWith({ 'names.csv': 'name\nAda\n' });
    await runBatchCommand(args, { env: service.env, home });
    const [, ada] = table(home);
    writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nCy\n');
    const runId = randomUUID();
    const result = { row: 2, cells: { name: 'Cy' }, values: [runId, 'succeeded', '', 'Hello'] };
    const end = { row: 2, id: '2', state: 'succeeded', runId, error: null, result };
    writeJournal(home, await findVersion('hello'), [await creating(2, 'Cy'), end], 'results.csv');
    const { stderr } = await runBatchCommand([...args, '--resume'], { env: service.env, home });
    expect(stderr).toContain('note: 0 of 2 rows succeeded now, 2 before');
    expect(table(home).slice(1)).toEqual([ada, ['Cy', runId, 'succeeded', '', 'Hello']]);
    expect(await created()).toBe(1);
  });

  test.each([';', '\t'])(
    'can be resumed after a spreadsheet has saved it with %j between its cells',
    async separator => {
      const home = directoryWith({ 'names.csv': 'name\nAda\n' });
      await runBatchCommand(args, { env: service.env, home });
      const file = path.join(home, 'results.csv');
      const before = readFileSync(file, 'utf8');
      // The greeting has a comma too, in quotes and before a space.
      const saved = before.replaceAll(/,(?! )/gu, separator).replaceAll('\n', '\r\n');
      writeFileSync(file, `\uFEFF${saved}`);
      expect((await runBatchCommand([...args, '--resume'], { env: service.env, home })).exitCode).toBe(0);
      expect(await created()).toBe(1);
      expect(readFileSync(file, 'utf8')).toBe(before);
    },
  );
});
