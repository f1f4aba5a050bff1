import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { JsonlResults } from '../../../../src/cli/batch/results/jsonl-results.ts';
import { openStreamResults } from '../../../../src/cli/batch/results/stream-results.ts';
import { createDirectoryWith, testContext } from '../../../support/context.ts';

test("the temporary file of sorted results is removed even if it can't be closed", async () => {
  const { ctx } = await testContext();
  const folder = createDirectoryWith({});
  vi.stubEnv('TMPDIR', folder);
  vi.stubEnv('TEMP', folder);
  const closeFile = vi.spyOn(JsonlResults.prototype, 'close');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    closeFile.mockRestore();
  });

  const results = await openStreamResults(ctx, { stream: undefined, excel: false, sorted: true });
  expect(readdirSync(folder)).toHaveLength(1);

  closeFile.mockRejectedValueOnce(new Error('EIO'));
  await expect(results.close()).rejects.toThrow('EIO');
  expect(readdirSync(folder)).toEqual([]);

  await results.close();
});
