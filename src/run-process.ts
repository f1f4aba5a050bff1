import { openForCommand } from './service/embedded.ts';
import type { DetachedSettings } from './service/runs/execution/detached-run.ts';
import type { QueuedRun } from './service/store/runs/run-records.ts';

// The process that carries out a run without a waiting command. It ends with the run, or earlier if
// its parent ends.
process.once('message', (place: DetachedSettings) => void carryOutOne(place));

async function carryOutOne(place: DetachedSettings): Promise<void> {
  const { store, parts, close } = await openForCommand({ ...place, env: process.env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void close(signal));
  }

  const leave = (): void => void close('the end of its command');
  process.once('disconnect', leave);

  process.once('message', (run: QueuedRun) => {
    process.off('disconnect', leave);
    void parts.runner.carryOut(run).then(leave);
    process.send?.('begun');
  });

  process.send?.(await store.workers.register());
}
