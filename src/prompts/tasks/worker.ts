import { performOrders } from '../../files/bounds/process-messages.ts';
import type { TaskOrder } from './messages.ts';
import { FULL_LIMITS, perform } from './tasks.ts';

// The process that does tasks of prompts, one at a time, until the service that started it has gone.
performOrders(async ({ name, work }: TaskOrder, begun) => {
  await begun();
  return await perform(name, work, FULL_LIMITS);
});
