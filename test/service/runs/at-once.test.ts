import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run, RunPage } from '../../../src/wire/index.ts';
import { keyOf, TestService, temporaryDataDir } from '../../support/local-service.ts';

const FRAME_BYTES = 24 + 4096;
const LOG_HEADER_BYTES = 32;

/** Transactions in SQLite's log: the last frame of each has the size of the database. */
function commits(dataDir: string): number {
  const log = readFileSync(path.join(dataDir, 'promptrun.db-wal'));
  const salt = log.subarray(16, 24);
  let count = 0;
  for (let at = LOG_HEADER_BYTES; at + FRAME_BYTES <= log.length; at += FRAME_BYTES) {
    const isCurrent = log.subarray(at + 8, at + 16).equals(salt);
    if (isCurrent && log.readUInt32BE(at + 4) > 0) count += 1;
  }
  return count;
}

describe('a run that costs nothing', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ dataDir: temporaryDataDir() });
  });
  afterAll(() => service.close());

  it('is on disk with its end when it is answered, by one commit', async () => {
    const promptVersionId = await service.versionOf('hello');
    const create = () =>
      service.post<Run>('/runs', { promptVersionId, inputs: { textInputs: { name: 'Ann' } } });
    // The first notes the use of the key as well.
    await create();
    const before = commits(service.dataDir);
    const { data } = await create();
    expect(commits(service.dataDir) - before).toBe(1);
    expect(await service.data(`/runs/${data.runId}`)).toEqual(data);
  });

  it('is paid for once where it succeeds, and not at all where it fails', async () => {
    const key = await keyOf(service.dataDir, { user: 'ada', credits: 3 });
    const { promptVersionId } = await service.publish(
      'numbers',
      '---\ninput:\n schema:\n  text: string\noutput:\n schema:\n  type: number\n---\n{{text}}',
    );
    const run = (text: string) =>
      service.post<Run>('/runs', { promptVersionId, inputs: { textInputs: { text } } }, { key });
    expect(await run('1')).toMatchObject({ data: { runStatus: 'succeeded' } });
    expect(await run('two')).toMatchObject({ data: { runStatus: 'failed' } });
    const { rows } = await service.data<RunPage>('/runs', { key });
    expect(rows).toMatchObject([{ credits: null }, { credits: 1 }]);
    expect((await Promise.all(['3', '4', '5'].map(run))).map(({ http }) => http).sort()).toEqual([
      200, 200, 402,
    ]);
  });
});
