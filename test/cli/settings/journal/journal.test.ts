import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../../src/cli/settings/journal/journal.ts';
import {
  isInDoubt,
  type JournalEntry,
  JournalMerger,
  mayHaveMadeRun,
} from '../../../../src/cli/settings/journal/journal-lines.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

const SERVICE = 'https://prompts.example.com/v1';

const START = {
  service: SERVICE,
  promptVersionId: '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55',
  inputsDigest: 'abc',
};

/** The size from which the file is archived. */
const ARCHIVED_FROM_BYTES = 5 * 1024 * 1024;

const NOW = Date.parse('2026-01-02T03:04:05.678Z');

let directory: string;
let journal: Journal;

const beginEntry = async (target: Journal, start = START): Promise<JournalEntry> => {
  const entry = target.createEntry(start);
  await target.begin(entry);
  return entry;
};

const readEntries = async (source: Journal): Promise<readonly JournalEntry[]> =>
  (await source.read()).entries;

beforeEach(() => {
  directory = path.join(createTemporaryDirectory(), 'state');
  journal = new Journal(directory, { now: () => NOW });
});

afterEach(async () => {
  await journal.close();
});

describe('the journal', () => {
  it.runIf(isPosix)('keeps a creation and its outcome, readable by its owner only', async () => {
    const entry = await beginEntry(journal);
    expect(await readEntries(journal)).toEqual([entry]);

    await journal.recordOutcome(entry.id, { outcome: 'created', runId: 'r1' });
    await journal.recordOutcome(entry.id, { outcome: 'ended', runId: 'r1', runStatus: 'failed' });

    expect(await readEntries(journal)).toEqual([
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

  it('is empty if its file does not exist', async () => {
    expect(await journal.read()).toEqual({ entries: [], damagedCount: 0 });
    expect(await journal.findLast(SERVICE)).toBeUndefined();
  });

  it('loses only the line that a crash has torn', async () => {
    const first = await beginEntry(journal);
    await appendFile(journal.file, '{"id":"torn","time":"2026-01-');
    const other = new Journal(directory, { now: () => NOW });
    const second = await beginEntry(other);
    await other.close();
    expect(await journal.read()).toEqual({ entries: [second, first], damagedCount: 0 });
  });

  it('keeps what another process wrote at the same time', async () => {
    const other = new Journal(directory, { now: () => NOW });
    const started = await Promise.all(
      Array.from({ length: 20 }, (_, index) => beginEntry(index % 2 ? journal : other)),
    );
    await other.close();
    const ids = (await readEntries(journal)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(started.map(({ id }) => id).toSorted());
  });

  it('finds the last creation of a service that may have made a run', async () => {
    const one = await beginEntry(journal);
    await journal.recordOutcome(one.id, { outcome: 'created', runId: 'r1' });
    const refusedEntry = await beginEntry(journal);
    await journal.recordOutcome(refusedEntry.id, { outcome: 'refused' });
    await beginEntry(journal, { ...START, service: 'local' });

    expect(await journal.findLast(SERVICE)).toMatchObject({ id: one.id, runId: 'r1' });
    expect(await journal.find(SERVICE, 'r1')).toMatchObject({ id: one.id });
    expect(await journal.find(SERVICE, 'r2')).toBeUndefined();

    const lostEntry = await beginEntry(journal);
    await journal.recordOutcome(lostEntry.id, { outcome: 'lost' });

    expect((await journal.findLast(SERVICE))?.id).toBe(lostEntry.id);
    expect((await readEntries(journal)).map(isInDoubt)).toEqual([true, true, false, false]);
  });

  it('skips lines that are not entries', async () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string())), lines => {
        const merger = new JournalMerger();
        const entries = lines.flatMap(line => merger.add(line) ?? []);
        expect(entries.every(entry => typeof entry.id === 'string')).toBe(true);
      }),
    );

    await beginEntry(journal);
    await writeFile(journal.file, Buffer.from([0xff, 0xfe, 0x00, 0x0a]), { flag: 'a' });
    expect((await journal.read()).damagedCount).toBe(1);
  });

  it('lists the creations that may have made a run, and the runs that it names', async () => {
    const [ended, refused, lost, unanswered] = [
      await beginEntry(journal),
      await beginEntry(journal),
      await beginEntry(journal),
      await beginEntry(journal),
    ];
    await journal.recordOutcome(ended.id, { outcome: 'ended', runId: 'r1' });
    await journal.recordOutcome(refused.id, { outcome: 'refused' });
    await journal.recordOutcome(lost.id, { outcome: 'lost' });
    const listPossibleRuns = async () =>
      (await readEntries(journal)).filter(mayHaveMadeRun).map(({ id }) => id);

    expect(await listPossibleRuns()).toEqual([unanswered.id, lost.id]);
    expect(await journal.findMentioned(new Set(['r1', 'r2']))).toEqual(new Set(['r1']));

    await journal.begin(refused, { again: true });
    expect(await listPossibleRuns()).toContain(refused.id);
  });

  it('is archived once it is large, and the archive is still read', async () => {
    const first = await beginEntry(journal);
    await journal.close();
    await appendFile(journal.file, `${'x'.repeat(ARCHIVED_FROM_BYTES)}\n`);
    const second = await beginEntry(journal);
    expect((await stat(journal.file)).size).toBeLessThan(1000);
    expect((await readEntries(journal)).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect((await readdir(directory)).length).toBe(2);
  });

  it('never contains an input', async () => {
    await beginEntry(journal);
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
