import { openForCommand } from './service/embedded.ts';
import type { DetachedSettings } from './service/runs/execution/detached-run.ts';
import type { QueuedRun } from './service/store/runs/run-records.ts';

// The process that carries out a run without a waiting command. It ends with the run, or earlier if
// its parent ends.
process.once('message', (place: DetachedSettings) => void carryOutRun(place));

async function carryOutRun(settings: DetachedSettings): Promise<void> {
  const { store, parts, close } = await openForCommand({ ...settings, env: process.env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void close(signal));
  }

  const closeAtEnd = (): void => void close('the end of its command');
  process.once('disconnect', closeAtEnd);

  process.once('message', (run: QueuedRun) => {
    process.off('disconnect', closeAtEnd);
    void parts.runner.carryOut(run).then(closeAtEnd);
    process.send?.('begun');
  });

  process.send?.(await store.workers.register());
}
