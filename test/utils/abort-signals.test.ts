import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejectWhenAborted, sleep, withTimeout } from '../../src/utils/abort-signals.ts';
import { collectGarbage } from '../support/system.ts';

function waitForAbort(signal: AbortSignal): Promise<string> {
  return new Promise(resolve => {
    signal.addEventListener('abort', () => resolve((signal.reason as Error).message), {
      once: true,
    });
  });
}

describe('work with a limit', () => {
  it('is over after its time, whatever memory was let go meanwhile', async () => {
    const { signal } = new AbortController();
    const ended = withTimeout(20, signal, waitForAbort);
    collectGarbage();
    expect(await ended).toBe('timed out after 0.02 s');
  });

  it('is over as soon as its owner is', async () => {
    const user = new AbortController();
    const ended = withTimeout(60_000, user.signal, waitForAbort);
    user.abort(new Error('Ctrl-C'));
    expect(await ended).toBe('Ctrl-C');
  });
});

describe('a sleep', () => {
  it('ends with the reason of its signal, also of one that is aborted already', async () => {
    const { signal } = new AbortController();
    await expect(sleep(1, signal)).resolves.toBeUndefined();
    const stop = new AbortController();
    const ended = expect(sleep(60_000, stop.signal)).rejects.toThrow('Ctrl-C');
    stop.abort(new Error('Ctrl-C'));
    await ended;
    await expect(sleep(60_000, stop.signal)).rejects.toThrow('Ctrl-C');
  });

  it('can share its signal with many others, without a warning of a leak', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 20 }, () => sleep(1, signal)));
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe('work that a signal can end', () => {
  it('leaves no rejection of the work unhandled if the signal was aborted before', async () => {
    const unhandled: unknown[] = [];
    const addReason = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', addReason);
    onTestFinished(() => void process.off('unhandledRejection', addReason));
    const work = setImmediate().then(() => Promise.reject(new Error('late')));
    const aborted = AbortSignal.abort(new Error('enough'));

    await expect(rejectWhenAborted(work, aborted)).rejects.toThrow('enough');

    await setImmediate();
    await setImmediate();

    expect(unhandled).toEqual([]);
  });

  it('passes a late result on, so that it can be discarded', async () => {
    const stop = new AbortController();
    const lateResults: string[] = [];
    const work = setImmediate().then(() => 'late');
    const ended = expect(
      rejectWhenAborted(work, stop.signal, result => void lateResults.push(result)),
    ).rejects.toThrow('Ctrl-C');
    stop.abort(new Error('Ctrl-C'));
    await ended;
    await work;

    expect(lateResults).toEqual(['late']);
  });
});
