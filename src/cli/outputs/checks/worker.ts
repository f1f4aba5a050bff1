import { withinTime } from '../../../files/bounds/past-bound.ts';
import { performOrders } from '../../../files/bounds/process-messages.ts';
import { type CheckName, type CheckWork, LIMITS, loadTask } from './tasks.ts';

// The process that does checks, one at a time, until the command ends it.
const loaded = new Map<CheckName, (...args: readonly unknown[]) => unknown>();

performOrders(async ({ name, args }: CheckWork, begun) => {
  // Which arguments a task takes is lost in a table.
  const task = loaded.get(name) ?? ((await loadTask[name]()) as (...args: readonly unknown[]) => unknown);
  loaded.set(name, task);
  await begun();
  const { what, timeMs } = LIMITS[name];
  // It ends by itself even if the command has gone.
  try {
    return withinTime(what, timeMs, () => task(...args));
  } catch (error) {
    // What was stopped midway may be broken: the next one begins anew.
    loaded.delete(name);
    throw error;
  }
});
