import { expect, it } from 'vitest';
import { InterruptedError, TimeLimitError } from '../../../src/cli/core/errors.ts';
import { StopControl } from '../../../src/cli/jobs/stop-control.ts';
import { testContext } from '../../support/context.ts';

it('drops all rows if the time was up before it listens', async () => {
  const { ctx } = await testContext();
  const stop = new StopControl();
  const release = stop.listen(
    { ...ctx, signal: AbortSignal.abort(new TimeLimitError()) },
    { runningCount: 0 },
  );
  release();

  expect(stop.isStopping()).toBe(true);
  expect(stop.dropSignal.reason).toBeInstanceOf(TimeLimitError);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'notices a %s that came before it listens',
  async signal => {
    const { ctx } = await testContext();
    const stop = new StopControl();
    const release = stop.listen(
      { ...ctx, signal: AbortSignal.abort(new InterruptedError(signal)) },
      { runningCount: 0 },
    );
    release();

    expect(stop.isStopping()).toBe(true);
    expect(stop.interruptedBy).toBe(signal);
  },
);
