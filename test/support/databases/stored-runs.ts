import { randomUUID } from 'node:crypto';
import { serviceClock } from '../../../src/service/core/clock.ts';
import { openDatabase } from '../../../src/service/store/open-database.ts';
import type { TestService } from '../local-service.ts';
import { createDatabaseFor } from './test-database.ts';

/**
 * Writes succeeded runs of a prompt into a service's store, without the work of carrying them out.
 *
 * @returns their ids, in order
 */
export async function storeRuns(
  { service, slug, user = 'local' }: { service: TestService; slug: string; user?: string },
  runs: readonly { readonly output: string; readonly warnings?: readonly string[] }[],
): Promise<string[]> {
  const { dataDir } = service;
  const prompt = await service.find(slug);
  const store = await openDatabase({
    dataDir,
    databaseUrl: await createDatabaseFor(dataDir),
    clock: serviceClock,
  });
  try {
    const { id: userId } = (await store.accounts.findUserByName(user)) ?? {};
    if (userId === undefined) throw new Error(`there is no user ${user}`);

    const worker = await store.workers.register();
    const ids: string[] = [];
    for (const { output, warnings } of runs) {
      const id = randomUUID();
      const facts = {
        name: 'Hi',
        model: '',
        credits: 0,
        inputBytes: 0,
        textBytes: 0,
        needsSpace: false,
      };

      const request = { textInputs: {}, images: [], runOptions: {} };
      await store.runs.create(
        { id, userId, ...prompt, request, ...facts, status: 'running', worker },
        { maxQueuedRuns: 10, maxMediaBytes: 1e9 },
        Date.now(),
      );

      await store.runs.settle({ id, userId }, worker, {
        status: 'succeeded',
        outputs: [{ type: 'text', data: output }],
        tokens: 1,
        media: [],
        ...(warnings && { warnings }),
      });
      ids.push(id);
    }

    return ids;
  } finally {
    await store.close();
  }
}
