import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BatchJournal } from '../../../src/cli/jobs/job-journal.ts';
import { fileIn } from '../../../src/files/write-below.ts';
import { temporaryDirectory } from '../../support/context.ts';

const DESCRIPTORS = '/proc/self/fd';

/** How often this process has a file open. */
function timesOpen(file: string): number {
  return readdirSync(DESCRIPTORS).filter(descriptor => linkOf(descriptor) === file).length;
}

function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(path.join(DESCRIPTORS, descriptor));
  } catch {
    return undefined; // the one the directory was read with
  }
}

describe.runIf(process.platform === 'linux')('the journal of a batch', () => {
  it('lets go of its file, though nothing was written to it', async () => {
    const file = path.join(temporaryDirectory(), 'results.jsonl.journal');
    const journal = await BatchJournal.open(fileIn(file));
    expect(timesOpen(file)).toBe(1);
    await journal.close();
    expect(timesOpen(file)).toBe(0);
  });

  it('lets go of its file once what was written to it is on disk', async () => {
    const file = path.join(temporaryDirectory(), 'results.jsonl.journal');
    const journal = await BatchJournal.open(fileIn(file));
    await journal.waiting({ row: 1, id: '1' });
    await journal.close();
    expect(timesOpen(file)).toBe(0);
  });
});
