import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { BatchJournal } from '../../../src/cli/jobs/batch-journal.ts';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

const DESCRIPTORS = '/proc/self/fd';
const TIME = '2026-11-20T10:00:00.000Z';

/** Counts how often this process has a file open. */
function countOpenDescriptors(file: string): number {
  return readdirSync(DESCRIPTORS).filter(descriptor => readLinkTarget(descriptor) === file).length;
}

function readLinkTarget(descriptor: string): string | undefined {
  try {
    return readlinkSync(path.join(DESCRIPTORS, descriptor));
  } catch {
    // It was the descriptor by which the directory was read.
    return undefined;
  }
}

describe.runIf(process.platform === 'linux')('the journal of a batch', () => {
  it('closes its file even if nothing was written', async () => {
    const file = path.join(createTemporaryDirectory(), 'results.jsonl.journal');
    const journal = await BatchJournal.open(toContainedPath(file));
    expect(countOpenDescriptors(file)).toBe(1);
    await journal.close();
    expect(countOpenDescriptors(file)).toBe(0);
  });

  it('closes its file once everything is on disk', async () => {
    const file = path.join(createTemporaryDirectory(), 'results.jsonl.journal');
    const journal = await BatchJournal.open(toContainedPath(file));
    await journal.recordWaiting({ row: 1, id: '1' });
    await journal.close();
    expect(countOpenDescriptors(file)).toBe(0);
  });
});

describe("the content of a batch's journal", () => {
  const rows = [['r1', 'digest']] as const;

  it('is the same when it is opened again, and after other jobs were forgotten', async () => {
    const place = toContainedPath(path.join(createTemporaryDirectory(), 'results.jsonl.journal'));
    const journal = await BatchJournal.open(place);
    const time = '2026-01-02T03:04:05.000Z';
    await journal.begin({ service: 'local', promptVersionId: 'v', options: {} }, time);
    const entry = { id: 'c1', time, baseUrl: 'local', promptVersionId: 'v', inputsDigest: 'd' };
    await journal.recordCreation({ row: 1, id: 'r1' }, entry);
    await journal.recordRun({ row: 1, id: 'r1' }, { runId: 'run-1', recovered: true });
    await journal.recordEnd(
      { row: 2, id: 'r2' },
      { step: 'failed', runId: null, error: 'no', mayHaveRun: true },
    );
    await journal.append({ kind: 'extra creation', journalId: 'c1', job: 'r1', entry });
    await journal.append({
      kind: 'extra creation',
      journalId: 'c2',
      job: 'r1',
      entry: { ...entry, id: 'c2' },
    });

    await journal.append({ kind: 'extra end', journalId: 'c1', runId: 'run-2' });
    await journal.append({
      kind: 'extra creation',
      journalId: 'c3',
      job: 'r1',
      entry: { ...entry, id: 'c3' },
    });

    await journal.append({ kind: 'extra end', journalId: 'c3', runId: null });
    await journal.append({
      kind: 'handover',
      key: 'k',
      promptVersionId: 'v',
      providerInterface: '/v1/x',
      rows,
    });

    await journal.append({ kind: 'handover progress', key: 'k', fileId: 'f' });
    await journal.append({ kind: 'handover progress', key: 'k', fileId: 'f', batchId: 'b' });
    await journal.close();

    const readAndRewrite = async (): Promise<unknown> => {
      const reopened = await BatchJournal.open(place);
      const { states, extras, handovers } = reopened;
      const content = {
        states: [...states],
        extras: [...extras],
        handovers: [...handovers],
      };

      await reopened.forget(id => id === 'another job');
      await reopened.close();
      return content;
    };

    const content = await readAndRewrite();
    expect(content).toMatchObject({
      states: [
        [
          'r1',
          { row: 1, step: 'running', entry, runId: 'run-1', runIds: ['run-1'], recovered: true },
        ],
        ['r2', { row: 2, step: 'failed', runId: undefined, error: 'no', mayHaveRun: true }],
      ],
      extras: [
        ['c1', { job: 'r1', entry, runId: 'run-2' }],
        ['c2', { job: 'r1', entry: { ...entry, id: 'c2' }, runId: undefined }],
      ],
      handovers: [
        {
          handover: { key: 'k', promptVersionId: 'v', providerInterface: '/v1/x', rows },
          progress: { batchId: 'b' },
        },
      ],
    });
    expect(await readAndRewrite()).toEqual(content);
  });

  function writeJournal(lines: readonly object[]): string {
    const file = path.join(createTemporaryDirectory(), 'results.jsonl.journal');
    writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''));
    return file;
  }

  it('is read from the old lines, which had handovers as marks, too', async () => {
    const file = writeJournal([
      { batch: 1, service: 'local' },
      { journalId: 'c1' },
      { id: 'provider-batch:k/rows', mark: JSON.stringify({ promptVersionId: 'v', rows }) },
      { id: 'provider-batch:k', mark: '{"file":"f"}' },
      { journalId: 'c1', runId: 'run-1' },
    ]);
    const journal = await BatchJournal.open(toContainedPath(file));
    await journal.close();

    expect([...journal.extras]).toEqual([
      ['c1', { job: undefined, entry: undefined, runId: 'run-1' }],
    ]);
    expect([...journal.handovers]).toMatchObject([
      {
        handover: { key: 'k', promptVersionId: 'v', providerInterface: undefined, rows },
        progress: { fileId: 'f' },
      },
    ]);
  });

  it.each([
    { row: 1, id: 'r1', state: 'creating', journalId: 'c1', promptVersionId: 'v', time: TIME },
    { row: 1, id: 'r1', state: 'creating', journalId: 'c1', digest: 'd', time: TIME },
    { row: 1, id: 'r1', state: 'creating', digest: 'd', promptVersionId: 'v', time: TIME },
    { journalId: 'c1', job: 'r1', promptVersionId: 'v', time: TIME },
  ])('is refused if a creation lacks one of its facts: %j', async line => {
    const file = writeJournal([{ batch: 1, service: 'local' }, line]);
    await expect(BatchJournal.open(toContainedPath(file))).rejects.toMatchObject({
      exitCode: EXIT.usage,
      message: `${file}:2: the record of a creation can't be read`,
      hints: [expect.stringContaining('promptrun runs list')],
    });
  });

  it.each([
    { id: 'provider-batch:k/rows', mark: '{"promptVersionId":' },
    { providerBatch: 'k', promptVersionId: 'v', rows: [['r1', 'digest'], 'r2'] },
  ])('is refused if rows that were handed over are damaged: %j', async line => {
    const file = writeJournal([
      { batch: 1, service: 'local' },
      line,
      { journalId: 'c1', runId: 'run-1' },
    ]);
    await expect(BatchJournal.open(toContainedPath(file))).rejects.toMatchObject({
      exitCode: EXIT.usage,
      message: expect.stringContaining(`${file}:2: `),
    });
  });
});
