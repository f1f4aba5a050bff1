import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { within } from '../../src/client/signals.ts';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function endOf(signal: AbortSignal): Promise<string> {
  return new Promise(resolve => {
    signal.addEventListener('abort', () => resolve((signal.reason as Error).message), { once: true });
  });
}

describe('work with a limit', () => {
  it('is over after its time, whatever memory was let go meanwhile', async () => {
    const { signal } = new AbortController();
    const ended = within(20, signal, endOf);
    collectGarbage();
    expect(await ended).toBe('not done in 0.02 s');
  });

  it('is over as soon as its owner is', async () => {
    const user = new AbortController();
    const ended = within(60_000, user.signal, endOf);
    user.abort(new Error('Ctrl-C'));
    expect(await ended).toBe('Ctrl-C');
  });
});
