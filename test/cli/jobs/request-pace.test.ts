import { describe, expect, test } from 'vitest';
import { RequestPace } from '../../../src/cli/jobs/request-pace.ts';
import { HandClock, settle } from '../../support/hand-clock.ts';

/**
 * Returns a pace on a clock that stands still, a function that asks it for turns, and the times at
 * which it gave them.
 */
function createPace(perSecond: number): {
  clock: HandClock;
  pace: RequestPace;
  times: number[];
  ask: (turns: number) => void;
  pauses: number[];
} {
  const clock = new HandClock(0);
  const times: number[] = [];
  const pauses: number[] = [];

  const pace = new RequestPace({ perSecond, clock, onPause: ms => pauses.push(ms) });
  const ask = (turns: number): void => {
    for (let turn = 0; turn < turns; turn += 1) {
      void pace.turn(undefined).then(() => times.push(clock.now()));
    }
  };

  return { clock, pace, times, ask, pauses };
}

const LIMITED = { limited: true, retryAfterMs: undefined };
const FINE = { limited: false, retryAfterMs: undefined };

describe('the rate', () => {
  test('of five a second gives a turn every 200 ms, the first at once', async () => {
    const { clock, times, ask } = createPace(5);
    ask(6);
    await clock.pass(1000);
    expect(times).toEqual([0, 200, 400, 600, 800, 1000]);
  });

  test('gives no extra turns for idle time', async () => {
    const { clock, times, ask } = createPace(5);
    ask(1);
    await clock.pass(10_000);
    ask(3);
    await clock.pass(1000);
    expect(times.slice(1).map(time => time - 10_000)).toEqual([0, 200, 400]);
  });

  test('may be less than one a second', async () => {
    const { clock, times, ask } = createPace(0.5);
    ask(3);
    await clock.pass(4000);
    expect(times).toEqual([0, 2000, 4000]);
  });

  test.each([5, 0])('%s a second stays the same if the clock is set back', async perSecond => {
    const hand = new HandClock(0);
    let back = 0;
    const clock = {
      now: () => hand.now() - back,
      sleep: (ms: number, signal?: AbortSignal) => hand.sleep(ms, signal),
    };
    const pace = new RequestPace({ perSecond, clock });
    await pace.turn(undefined);
    back = 3 * 60 * 60 * 1000;
    const next = pace.turn(undefined);
    await hand.pass(200);

    await expect(Promise.race([next, settle().then(() => 'late')])).resolves.toBeUndefined();
  });

  test('of 0 means unlimited', async () => {
    const { times, ask } = createPace(0);
    ask(50);
    await settle();
    expect(times).toHaveLength(50);
  });
});

describe('429', () => {
  test('pauses every request for as long as retry-after says', async () => {
    const { clock, pace, times, ask, pauses } = createPace(0);
    pace.answered({ limited: true, retryAfterMs: 7000 });
    ask(2);
    await clock.pass(6999);

    expect(times).toEqual([]);

    await clock.pass(1000);
    expect(times[0]).toBe(7000);
    expect(pauses).toEqual([7000]);
  });

  test('pauses for one second if retry-after is longer than anybody waits', async () => {
    const { clock, pace, times, ask } = createPace(0);
    pace.answered({ limited: true, retryAfterMs: 3_600_000 });
    ask(1);
    await clock.pass(1000);
    expect(times).toEqual([1000]);
  });

  test('counts once for several answers at once, and pauses longer each time after that', async () => {
    const { clock, pace, times, ask } = createPace(0);
    pace.answered(LIMITED);
    pace.answered(LIMITED);
    ask(1);
    await clock.pass(1000);

    expect(times).toEqual([1000]);

    pace.answered(LIMITED);
    ask(1);
    await clock.pass(2000);

    expect(times).toEqual([1000, 3000]);
  });

  test('halves the rate until a hundred answers were not limited', async () => {
    const { clock, pace, times, ask } = createPace(10);
    pace.answered(LIMITED);
    ask(3);
    await clock.pass(1400);

    expect(times).toEqual([1000, 1200, 1400]);

    for (let answer = 0; answer < 100; answer += 1) pace.answered(FINE);
    ask(3);
    await clock.pass(1000);

    expect(times.slice(3)).toEqual([1600, 1700, 1800]);
  });
});

test('a request that gives up passes its turn to the next', async () => {
  const { clock, pace, times, ask } = createPace(1);
  const gone = new AbortController();
  ask(1);
  const turn = pace.turn(gone.signal);
  ask(1);
  await clock.pass(500);
  gone.abort(new Error('enough'));

  await expect(turn).rejects.toThrow('enough');

  await clock.pass(500);
  expect(times).toEqual([0, 1000]);
});
