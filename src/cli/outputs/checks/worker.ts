import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../../files/error-utils.ts';
import { type CheckReply, type CheckWork, loadTask } from './tasks.ts';

// The thread that does checks, one at a time, until the command ends it.
const loaded = new Map<string, (...args: readonly never[]) => unknown>();

parentPort?.on('message', ({ name, args }: CheckWork) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const reply = (message: CheckReply): void => parentPort?.postMessage(message);
  perform(name, args, () => reply('begun')).then(
    result => reply({ result }),
    (error: unknown) => reply({ fault: messageOf(error) }),
  );
});

async function perform(
  name: CheckWork['name'],
  args: readonly unknown[],
  begun: () => void,
): Promise<unknown> {
  const task = loaded.get(name) ?? (await loadTask[name]());
  loaded.set(name, task);
  begun();
  return task(...(args as readonly never[]));
}
