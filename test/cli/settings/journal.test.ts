import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../src/cli/settings/journal/journal.ts';
import { foldJournal, inDoubt } from '../../../src/cli/settings/journal/journal-lines.ts';

const SERVICE = 'https://prompts.example.com/v1';
const START = {
  service: SERVICE,
  promptVersionId: '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55',
  inputsDigest: 'abc',
};
const NOW = Date.parse('2026-01-02T03:04:05.678Z');

let directory: string;
let journal: Journal;
beforeEach(async () => {
  directory = path.join(await mkdtemp(path.join(os.tmpdir(), 'journal-')), 'state');
  journal = openJournal(directory, { now: () => NOW });
});
afterEach(() => rm(path.dirname(directory), { recursive: true }));

describe('the journal', () => {
  it('keeps a creation and what became of it, readable by its owner only', async () => {
    const entry = await journal.begin(START);
    expect(await journal.entries()).toEqual([entry]);
    await journal.outcome(entry.id, { outcome: 'created', runId: 'r1' });
    await journal.outcome(entry.id, { outcome: 'ended', runId: 'r1', runStatus: 'failed' });
    expect(await journal.entries()).toEqual([
      expect.objectContaining({
        time: '2026-01-02T03:04:05.678Z',
        baseUrl: SERVICE,
        promptVersionId: START.promptVersionId,
        inputsDigest: 'abc',
        outcome: 'ended',
        runId: 'r1',
        runStatus: 'failed',
      }),
    ]);
    expect((await stat(journal.file)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it('is empty where there is none', async () => {
    expect(await journal.read()).toEqual({ entries: [], damaged: 0 });
    expect(await journal.last(SERVICE)).toBeUndefined();
  });

  it('loses only the line a crash tore', async () => {
    const first = await journal.begin(START);
    await appendFile(journal.file, '{"id":"torn","time":"2026-01-');
    const second = await journal.begin(START);
    expect(await journal.read()).toEqual({ entries: [first, second], damaged: 1 });
  });

  it('keeps what another process wrote at the same time', async () => {
    const other = openJournal(directory, { now: () => NOW });
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 ? journal : other).begin(START)),
    );
    const ids = (await journal.entries()).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(begun.map(({ id }) => id).toSorted());
  });

  it('takes the last creation of a service that may have made a run', async () => {
    const one = await journal.begin(START);
    await journal.outcome(one.id, { outcome: 'created', runId: 'r1' });
    const refused = await journal.begin(START);
    await journal.outcome(refused.id, { outcome: 'refused' });
    await journal.begin({ ...START, service: 'local' });
    expect(await journal.last(SERVICE)).toMatchObject({ id: one.id, runId: 'r1' });
    expect(await journal.runIds(SERVICE)).toEqual(new Set(['r1']));
    const lost = await journal.begin(START);
    await journal.outcome(lost.id, { outcome: 'lost' });
    expect((await journal.last(SERVICE))?.id).toBe(lost.id);
    expect((await journal.entries()).map(inDoubt)).toEqual([false, false, true, true]);
  });

  it('survives whatever stands in the file', async () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string())), lines => {
        const { entries } = foldJournal(lines.join('\n'));
        expect(entries.every(entry => typeof entry.id === 'string')).toBe(true);
      }),
    );
    await journal.begin(START);
    await writeFile(journal.file, Buffer.from([0xff, 0xfe, 0x00, 0x0a]), { flag: 'a' });
    expect((await journal.read()).damaged).toBe(1);
  });

  it('never holds an input', async () => {
    await journal.begin(START);
    expect(Object.keys(JSON.parse(await readFile(journal.file, 'utf8')) as object)).toEqual([
      'id',
      'time',
      'baseUrl',
      'promptVersionId',
      'inputsDigest',
      'pid',
    ]);
  });
});
