import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { InterruptedError } from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { listenForInterrupts } from '../../../src/cli/runtime/signals.ts';

let time = 0;
const clock = { now: () => time };

function source(platform: NodeJS.Platform = 'linux', pid = 2) {
  const emitter = new EventEmitter();
  return Object.assign(emitter, {
    pid,
    kill: vi.fn(),
    exit: vi.fn(),
    platform,
    send: (signal: string) => emitter.emit(signal, signal),
  });
}

describe('signals', () => {
  it.each([
    ['SIGINT', 'SIGINT', EXIT.interrupted],
    ['SIGTERM', 'SIGTERM', EXIT.terminated],
    ['SIGHUP', 'SIGTERM', EXIT.terminated],
    ['SIGQUIT', 'SIGTERM', EXIT.terminated],
  ] as const)('%s aborts as %s, with its exit code', (name, endingSignal, exitCode) => {
    const process = source();
    const { signal } = listenForInterrupts(process, clock);
    process.send(name);
    expect(signal.reason).toBeInstanceOf(InterruptedError);
    expect(signal.reason).toMatchObject({ signal: endingSignal, exitCode });
  });

  it('ends the process at the second one', () => {
    const process = source();
    listenForInterrupts(process, clock);
    process.send('SIGINT');
    expect(process.kill).not.toHaveBeenCalled();
    process.send('SIGTERM');
    expect(process.kill).toHaveBeenCalledExactlyOnceWith(2, 'SIGTERM');
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(0);
  });

  it.each([
    ['on Windows', source('win32')],
    ['if it is the first process of a container', source('linux', 1)],
  ])('ends the process with the code of the signal %s, because no signal ends it', (_, process) => {
    listenForInterrupts(process, clock);
    process.send('SIGINT');
    time += 500;
    process.send('SIGINT');
    expect([process.kill.mock.calls, process.exit.mock.calls]).toEqual([[], [[130]]]);
  });

  it('ends the process if a command does not end by itself within two seconds', () => {
    vi.useFakeTimers();
    try {
      const process = source();
      listenForInterrupts(process, clock);
      process.send('SIGTERM');
      vi.advanceTimersByTime(2000);
      expect(process.kill).toHaveBeenCalledExactlyOnceWith(2, 'SIGTERM');
    } finally {
      vi.useRealTimers();
    }
  });

  it('counts once if the parent process passes it on', () => {
    const process = source();
    const { onInterrupt } = listenForInterrupts(process, clock);
    const handler = vi.fn();
    onInterrupt(handler);
    process.send('SIGINT');
    time += 20;
    process.send('SIGINT');

    expect(handler).toHaveBeenCalledTimes(1);

    time += 500;
    process.send('SIGINT');

    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('goes to the latest handler until that hands it back', () => {
    const process = source();
    const { signal, onInterrupt } = listenForInterrupts(process, clock);
    const [outer, inner] = [vi.fn(), vi.fn()];
    onInterrupt(outer);
    const handBack = onInterrupt(inner);
    process.send('SIGINT');
    handBack();
    handBack();
    process.send('SIGTERM');

    expect([inner.mock.calls, outer.mock.calls, signal.aborted]).toEqual([
      [['SIGINT']],
      [['SIGTERM']],
      false,
    ]);
  });

  it('are left to the system once nobody listens', () => {
    const process = source();
    listenForInterrupts(process, clock).uninstall();
    expect(process.eventNames()).toEqual([]);
  });
});
