import { parentPort } from 'node:worker_threads';
import { faultOf, type Reply, type TaskOrder } from './messages.ts';
import { FULL_LIMITS, perform } from './tasks.ts';

// The thread that does tasks of prompts, one at a time.
const port = parentPort;
port?.on('message', ({ name, work }: TaskOrder) => {
  const reply = (message: Reply): void => port.postMessage(message);
  reply({ state: 'begun' });
  perform(name, work, FULL_LIMITS).then(
    result => reply({ state: 'done', result }),
    (error: unknown) => reply({ state: 'failed', fault: faultOf(error) }),
  );
});
