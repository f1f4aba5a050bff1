import { performOrders } from '../../processes/process-messages.ts';
import { runWithinTime } from '../../utils/limit-exceeded.ts';
import { CHECK_LIMITS, type CheckName, type CheckWork, TASK_LOADERS } from './check-tasks.ts';

// The process that runs checks, one at a time, until the command ends it.
const loadedChecks = new Map<CheckName, (...args: readonly unknown[]) => unknown>();

performOrders(async ({ name, args }: CheckWork, reportBegun) => {
  // TypeScript can't relate a task to its arguments through a table.
  const task =
    loadedChecks.get(name) ??
    ((await TASK_LOADERS[name]()) as (...args: readonly unknown[]) => unknown);
  loadedChecks.set(name, task);
  await reportBegun();
  const { subject, timeMs } = CHECK_LIMITS[name];

  // The process exits by itself if the command is gone.
  try {
    return runWithinTime(subject, timeMs, () => task(...args));
  } catch (error) {
    // A task that was stopped midway may be broken, so the next one loads it again.
    loadedChecks.delete(name);
    throw error;
  }
});
