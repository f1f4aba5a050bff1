import { describe, expect, test } from 'vitest';
import { RequestPace } from '../../../src/cli/jobs/request-pace.ts';
import { HandClock, settle } from '../../support/hand-clock.ts';

/**
 * Returns a pace on a clock that the test sets, a function that requests turns, the times of the
 * turns, and the lengths of the pauses.
 */
function createPace(perSecond: number): {
  clock: HandClock;
  pace: RequestPace;
  times: number[];
  requestTurns: (count: number) => void;
  pausesMs: number[];
} {
  const clock = new HandClock(0);
  const times: number[] = [];
  const pausesMs: number[] = [];

  const pace = new RequestPace({ perSecond, clock, onPause: ms => pausesMs.push(ms) });
  const requestTurns = (count: number): void => {
    for (let turn = 0; turn < count; turn += 1) {
      void pace.turn(undefined).then(() => times.push(clock.now()));
    }
  };

  return { clock, pace, times, requestTurns, pausesMs };
}

const TOO_MANY_REQUESTS = { limited: true, retryAfterMs: undefined };
const SUCCESS = { limited: false, retryAfterMs: undefined };

describe('the rate', () => {
  test('of five a second gives a turn every 200 ms, the first at once', async () => {
    const { clock, times, requestTurns } = createPace(5);
    requestTurns(6);
    await clock.pass(1000);
    expect(times).toEqual([0, 200, 400, 600, 800, 1000]);
  });

  test('gives no extra turns for idle time', async () => {
    const { clock, times, requestTurns } = createPace(5);
    requestTurns(1);
    await clock.pass(10_000);
    requestTurns(3);
    await clock.pass(1000);
    expect(times.slice(1).map(time => time - 10_000)).toEqual([0, 200, 400]);
  });

  test('may be less than one a second', async () => {
    const { clock, times, requestTurns } = createPace(0.5);
    requestTurns(3);
    await clock.pass(4000);
    expect(times).toEqual([0, 2000, 4000]);
  });

  test.each([5, 0])('%s a second stays the same if the clock is set back', async perSecond => {
    const steadyClock = new HandClock(0);
    let setBackMs = 0;
    const clock = {
      now: () => steadyClock.now() - setBackMs,
      sleep: (ms: number, signal?: AbortSignal) => steadyClock.sleep(ms, signal),
    };
    const pace = new RequestPace({ perSecond, clock });
    await pace.turn(undefined);
    setBackMs = 3 * 60 * 60 * 1000;
    const nextTurn = pace.turn(undefined);
    await steadyClock.pass(200);

    await expect(Promise.race([nextTurn, settle().then(() => 'late')])).resolves.toBeUndefined();
  });

  test('of 0 means unlimited', async () => {
    const { times, requestTurns } = createPace(0);
    requestTurns(50);
    await settle();
    expect(times).toHaveLength(50);
  });
});

describe('a 429', () => {
  test('pauses every request for as long as retry-after says', async () => {
    const { clock, pace, times, requestTurns, pausesMs } = createPace(0);
    pace.answered({ limited: true, retryAfterMs: 7000 });
    requestTurns(2);
    await clock.pass(6999);

    expect(times).toEqual([]);

    await clock.pass(1000);
    expect(times[0]).toBe(7000);
    expect(pausesMs).toEqual([7000]);
  });

  test('pauses for one second if retry-after is longer than the client waits', async () => {
    const HOUR_MS = 3_600_000;
    const { clock, pace, times, requestTurns } = createPace(0);
    pace.answered({ limited: true, retryAfterMs: HOUR_MS });
    requestTurns(1);
    await clock.pass(1000);
    expect(times).toEqual([1000]);
  });

  test('counts once with others at the same time, and pauses twice as long the next time', async () => {
    const { clock, pace, times, requestTurns } = createPace(0);
    pace.answered(TOO_MANY_REQUESTS);
    pace.answered(TOO_MANY_REQUESTS);
    requestTurns(1);
    await clock.pass(1000);

    expect(times).toEqual([1000]);

    pace.answered(TOO_MANY_REQUESTS);
    requestTurns(1);
    await clock.pass(2000);

    expect(times).toEqual([1000, 3000]);
  });

  test('halves the rate, which a hundred good answers restore', async () => {
    const { clock, pace, times, requestTurns } = createPace(10);
    pace.answered(TOO_MANY_REQUESTS);
    requestTurns(3);
    await clock.pass(1400);

    expect(times).toEqual([1000, 1200, 1400]);

    for (let answer = 0; answer < 100; answer += 1) pace.answered(SUCCESS);
    requestTurns(3);
    await clock.pass(1000);

    expect(times.slice(3)).toEqual([1600, 1700, 1800]);
  });
});

test('a request that gives up passes its turn to the next', async () => {
  const { clock, pace, times, requestTurns } = createPace(1);
  const giveUp = new AbortController();
  requestTurns(1);
  const turn = pace.turn(giveUp.signal);
  requestTurns(1);
  await clock.pass(500);
  giveUp.abort(new Error('enough'));

  await expect(turn).rejects.toThrow('enough');

  await clock.pass(500);
  expect(times).toEqual([0, 1000]);
});
