import { expect, it } from 'vitest';
import { Interrupted, TimeIsUp } from '../../../src/cli/core/errors.ts';
import { StopControl } from '../../../src/cli/jobs/stop-control.ts';
import { testContext } from '../../support/context.ts';

it('drops everything if the time was over before the first listener', async () => {
  const { ctx } = await testContext();
  const stop = new StopControl();
  const release = stop.listen(
    { ...ctx, signal: AbortSignal.abort(new TimeIsUp()) },
    { runningCount: 0 },
  );
  release();

  expect(stop.isStopping()).toBe(true);
  expect(stop.dropping.reason).toBeInstanceOf(TimeIsUp);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'knows of a %s from before the first listener',
  async signal => {
    const { ctx } = await testContext();
    const stop = new StopControl();
    const release = stop.listen(
      { ...ctx, signal: AbortSignal.abort(new Interrupted(signal)) },
      { runningCount: 0 },
    );
    release();

    expect([stop.isStopping(), stop.interruptedBy]).toEqual([true, signal]);
  },
);
