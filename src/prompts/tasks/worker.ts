import { faultOf, type Reply, type TaskOrder } from './messages.ts';
import { FULL_LIMITS, perform } from './tasks.ts';

// The process that does tasks of prompts, one at a time, until the service that started it has gone.
process.on('message', ({ name, work }: TaskOrder) => {
  const reply = (message: Reply): void => void process.send?.(message);
  reply({ state: 'begun' });
  perform(name, work, FULL_LIMITS).then(
    result => reply({ state: 'done', result }),
    (error: unknown) => reply({ state: 'failed', fault: faultOf(error) }),
  );
});

// A Ctrl-C is for the service, which may finish what it has begun.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
