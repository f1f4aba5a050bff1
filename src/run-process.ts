import { openForCommand } from './service/embedded.ts';
import type { DetachedReady, DetachedStart } from './service/runs/detached-run.ts';
import type { QueuedRun } from './service/store/run-queue.ts';

// The process that carries out a run which nobody waits for. It ends with the run, or with who started it before that.
process.once('message', (start: DetachedStart) => void serveOne(start));

async function serveOne({ dataDir }: DetachedStart): Promise<void> {
  const { store, parts, close } = await openForCommand({ dataDir, env: process.env });
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
  process.send?.({ worker: await store.workers.register() } satisfies DetachedReady);
}
