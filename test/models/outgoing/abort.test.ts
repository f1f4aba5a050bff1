import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { unlessAborted } from '../../../src/models/outgoing/abort.ts';

it('leaves no rejection of the work unhandled if the signal was aborted before', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const work = setImmediate().then(() => Promise.reject(new Error('late')));
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(unlessAborted(work, aborted)).rejects.toThrow('enough');
  await setImmediate();
  await setImmediate();
  expect(unhandled).toEqual([]);
});
