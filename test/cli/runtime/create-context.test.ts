import { expect, it, vi } from 'vitest';
import { testContext } from '../../support/context.ts';

it('opens no service for a command that was abandoned', async () => {
  const start = vi.fn();
  const { ctx, close } = await testContext({ local: { start } });
  await close();
  await expect(ctx.connection()).rejects.toThrow('the command has ended');
  expect(start).not.toHaveBeenCalled();
});

it('ends the process within two seconds of --timeout, whatever keeps it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const { ctx, close, exited } = await testContext({ globals: { timeoutMs: 50 } });
    await vi.waitUntil(() => ctx.signal.aborted);
    await close();
    expect(exited).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(exited).toEqual([6]);
  } finally {
    vi.useRealTimers();
  }
});
