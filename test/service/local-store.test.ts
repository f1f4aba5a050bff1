import { expect, test } from 'vitest';
import { withStore } from '../../src/service/local-store.ts';
import { temporaryDataDir } from '../support/local-service.ts';

test('run options are checked whatever the case of the id', async () => {
  await withStore({ dataDir: temporaryDataDir() }, async store => {
    const { promptVersionId } = await store.ensureUnlistedVersion({ slug: 'hello', model: 'echo' });
    const checking = store.checkRunOptions(promptVersionId.toUpperCase(), { bogus: '1' });
    await expect(checking).rejects.toThrow('is not a run option of the model echo');
  });
});
