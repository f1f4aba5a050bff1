import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { InterruptedError } from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { listenForInterrupts } from '../../../src/cli/runtime/signals.ts';

let time = 0;
const clock = { now: () => time };

function createSignalSource(platform: NodeJS.Platform = 'linux', pid = 2) {
  const emitter = new EventEmitter();
  return Object.assign(emitter, {
    pid,
    kill: vi.fn(),
    exit: vi.fn(),
    platform,
    send: (signal: string) => emitter.emit(signal, signal),
  });
}

describe('a signal', () => {
  it.each([
    ['SIGINT', 'SIGINT', EXIT.interrupted],
    ['SIGTERM', 'SIGTERM', EXIT.terminated],
    ['SIGHUP', 'SIGTERM', EXIT.terminated],
    ['SIGQUIT', 'SIGTERM', EXIT.terminated],
  ] as const)('%s aborts as %s, with its exit code', (name, endingSignal, exitCode) => {
    const process = createSignalSource();
    const { signal } = listenForInterrupts(process, clock);
    process.send(name);
    expect(signal.reason).toBeInstanceOf(InterruptedError);
    expect(signal.reason).toMatchObject({ signal: endingSignal, exitCode });
  });

  it('ends the process if it is the second one', () => {
    const process = createSignalSource();
    listenForInterrupts(process, clock);
    process.send('SIGINT');
    expect(process.kill).not.toHaveBeenCalled();
    process.send('SIGTERM');
    expect(process.kill).toHaveBeenCalledExactlyOnceWith(2, 'SIGTERM');
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(0);
  });

  it.each([
    ['on Windows', createSignalSource('win32')],
    ['if it is the first process of a container', createSignalSource('linux', 1)],
  ])('ends the process with an exit code in place of a signal %s', (_, process) => {
    listenForInterrupts(process, clock);
    process.send('SIGINT');
    time += 500;
    process.send('SIGINT');
    expect([process.kill.mock.calls, process.exit.mock.calls]).toEqual([[], [[130]]]);
  });

  it('ends the process if a command does not end by itself within two seconds', () => {
    vi.useFakeTimers();
    try {
      const process = createSignalSource();
      listenForInterrupts(process, clock);
      process.send('SIGTERM');
      vi.advanceTimersByTime(2000);
      expect(process.kill).toHaveBeenCalledExactlyOnceWith(2, 'SIGTERM');
    } finally {
      vi.useRealTimers();
    }
  });

  it('counts once if the parent process forwards it too', () => {
    const process = createSignalSource();
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

  it('goes to the latest handler until that is removed', () => {
    const process = createSignalSource();
    const { signal, onInterrupt } = listenForInterrupts(process, clock);
    const [outer, inner] = [vi.fn(), vi.fn()];
    onInterrupt(outer);
    const removeInner = onInterrupt(inner);
    process.send('SIGINT');
    removeInner();
    removeInner();
    process.send('SIGTERM');

    expect([inner.mock.calls, outer.mock.calls, signal.aborted]).toEqual([
      [['SIGINT']],
      [['SIGTERM']],
      false,
    ]);
  });

  it('is left to the system after uninstall', () => {
    const process = createSignalSource();
    listenForInterrupts(process, clock).uninstall();
    expect(process.eventNames()).toEqual([]);
  });
});
