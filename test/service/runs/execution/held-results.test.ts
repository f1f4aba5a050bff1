import { describe, expect, it } from 'vitest';
import {
  HeldResults,
  ResultLostError,
} from '../../../../src/service/runs/execution/held-results.ts';
import { DatabaseUnavailableError } from '../../../../src/service/store/store-errors.ts';
import { HandClock } from '../../../support/hand-clock.ts';

const MIB = 1024 * 1024;
const databaseUnavailable = new DatabaseUnavailableError('away');

function createResults() {
  const clock = new HandClock();
  const faults: unknown[] = [];
  return {
    clock,
    faults,
    results: new HeldResults({ clock, onFault: fault => void faults.push(fault) }),
  };
}

describe('a result that waits for the database', () => {
  it('is lost after ten minutes, and reported once with its run', () => {
    const { clock, faults, results } = createResults();
    const held = results.hold('run-1', () => 1);
    held.recordFailure(databaseUnavailable);
    clock.advance(9 * 60_000);
    held.recordFailure(databaseUnavailable);
    clock.advance(60_000);

    expect(() => held.recordFailure(databaseUnavailable)).toThrow(ResultLostError);
    expect(() => held.recordFailure(databaseUnavailable)).toThrow(ResultLostError);
    expect(faults.map(String)).toEqual([
      expect.stringMatching(/run-1 is lost.*paid for.*10 minutes/),
    ]);
  });

  it('is lost if other results leave no room, until one of them is released', () => {
    const { faults, results } = createResults();
    const [first, second, third] = ['a', 'b', 'c'].map(id => results.hold(id, () => 128 * MIB));
    first?.recordFailure(databaseUnavailable);
    second?.recordFailure(databaseUnavailable);

    expect(() => third?.recordFailure(databaseUnavailable)).toThrow('256 MiB');
    expect(faults).toHaveLength(1);

    first?.release();
    expect(() =>
      results.hold('d', () => 128 * MIB).recordFailure(databaseUnavailable),
    ).not.toThrow();
  });

  it('is lost if the service stops while it waits, and reported once', () => {
    const { faults, results } = createResults();
    const [waitingResult, otherResult] = ['run-1', 'run-2'].map(id => results.hold(id, () => 1));
    waitingResult?.recordFailure(databaseUnavailable);
    expect(waitingResult?.loseIfWaiting()).toBe(true);
    expect(waitingResult?.loseIfWaiting()).toBe(false);
    expect(otherResult?.loseIfWaiting()).toBe(false);
    expect(faults.map(String)).toEqual([
      expect.stringMatching(/run-1 is lost.*the service stopped/),
    ]);
  });

  it('is kept as long as another fault lasts, such as a full disk', () => {
    const { clock, faults, results } = createResults();
    const held = results.hold('run-1', () => 1024 * MIB);
    held.recordFailure(new Error('disk is full'));
    clock.advance(60 * 60_000);
    held.recordFailure(new Error('disk is full'));
    expect(faults).toEqual([]);
  });
});
