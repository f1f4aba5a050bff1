import { performOrders } from '../../processes/process-messages.ts';
import { FULL_LIMITS, performTask } from './perform-task.ts';
import type { TaskOrder } from './task-order.ts';

// The process that runs tasks, one at a time, until the process that started it is gone.
performOrders(async ({ name, work }: TaskOrder, reportBegun) => {
  await reportBegun();
  return await performTask(name, work, FULL_LIMITS);
});
