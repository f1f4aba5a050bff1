import { expect, it } from 'vitest';
import { canAnimate, formatProgressState } from '../../../src/cli/terminal/spinner.ts';
import type { TerminalContext } from '../../../src/cli/terminal/terminal-context.ts';

const START = 1_000_000;

it('shows the status, the time and the number of polls', () => {
  expect(
    formatProgressState({ status: 'creating the run', pollCount: 0 }, START, START + 5400),
  ).toBe('creating the run · 5 s');
  expect(formatProgressState({ status: 'running', pollCount: 1 }, START, START + 61_000)).toBe(
    'running · 1 min 1 s · polled once',
  );
});

it('shows why and for how long the service has not answered, without control characters', () => {
  const silence = {
    reason: "can't connect to\u001b[2J x: connection refused",
    since: START + 3000,
  };
  const text = formatProgressState(
    { status: 'running', pollCount: 4, silence },
    START,
    START + 75_000,
  );
  expect(text).toMatch(
    /^running · 1 min 15 s · polled 4 times · no answer for 1 min 12 s: can't connect to/,
  );
  expect(text).not.toContain('\u001b');
});

it.each([
  [80, true],
  [0, false],
])('moves on a terminal of %i columns: %s', (columns, moves) => {
  const stderr = { isTerminal: true, stream: { columns } };
  const terminal = { io: { stderr }, globals: { spinner: true, quiet: false }, env: {} };
  expect(canAnimate(terminal as unknown as TerminalContext)).toBe(moves);
});
