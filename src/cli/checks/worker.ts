import { withinTime } from '../../files/bounds/past-bound.ts';
import { performOrders } from '../../files/bounds/process-messages.ts';
import { type CheckName, type CheckWork, LIMITS, loadTask } from './tasks.ts';

// The process that runs checks, one at a time, until the command ends it.
const loaded = new Map<CheckName, (...args: readonly unknown[]) => unknown>();

performOrders(async ({ name, args }: CheckWork, begun) => {
  // The compiler can't relate a task to its arguments through a table.
  const task = loaded.get(name) ?? ((await loadTask[name]()) as (...args: readonly unknown[]) => unknown);
  loaded.set(name, task);
  await begun();
  const { what, timeMs } = LIMITS[name];
  // The process exits by itself if the command is gone.
  try {
    return withinTime(what, timeMs, () => task(...args));
  } catch (error) {
    // A task that was stopped midway may be broken, so the next one loads it again.
    loaded.delete(name);
    throw error;
  }
});
