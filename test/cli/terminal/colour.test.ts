import { describe, expect, it } from 'vitest';
import { createPaint, detectColourLevel } from '../../../src/cli/terminal/colour.ts';
import type { Sink } from '../../../src/cli/terminal/io.ts';
import { runInProcess } from '../../support/context.ts';

const sink = (isTTY: boolean): Sink => ({
  isTTY,
  write: () => true,
  on: () => undefined,
});

const xterm = { TERM: 'xterm-256color' };

describe('colours', () => {
  it.each([
    { name: 'are used on a terminal', isTTY: true, env: xterm, isAllowed: true, level: 2 },
    {
      name: 'are 24-bit on a terminal that says so in COLORTERM',
      isTTY: true,
      env: { ...xterm, COLORTERM: 'truecolor' },
      isAllowed: true,
      level: 3,
    },
    { name: 'are not used in a pipe', isTTY: false, env: xterm, isAllowed: true, level: 0 },
    {
      name: 'are not used with --no-color, not even with FORCE_COLOR',
      isTTY: true,
      env: { ...xterm, FORCE_COLOR: '1' },
      isAllowed: false,
      level: 0,
    },
    {
      name: 'are not used with NO_COLOR',
      isTTY: true,
      env: { ...xterm, NO_COLOR: '1' },
      isAllowed: true,
      level: 0,
    },
    {
      name: 'are used with an empty NO_COLOR',
      isTTY: true,
      env: { ...xterm, NO_COLOR: '' },
      isAllowed: true,
      level: 2,
    },
    {
      name: 'are not used on a dumb terminal',
      isTTY: true,
      env: { TERM: 'dumb' },
      isAllowed: true,
      level: 0,
    },
    {
      name: 'are used in a pipe with FORCE_COLOR',
      isTTY: false,
      env: { FORCE_COLOR: '1' },
      isAllowed: true,
      level: 1,
    },
    {
      name: 'are used in a pipe with an empty FORCE_COLOR',
      isTTY: false,
      env: { FORCE_COLOR: '' },
      isAllowed: true,
      level: 1,
    },
    {
      name: 'are as many as FORCE_COLOR says, which wins over NO_COLOR',
      isTTY: false,
      env: { FORCE_COLOR: '3', NO_COLOR: '1' },
      isAllowed: true,
      level: 3,
    },
    {
      name: 'are not used with FORCE_COLOR=0',
      isTTY: true,
      env: { ...xterm, FORCE_COLOR: '0' },
      isAllowed: true,
      level: 0,
    },
  ])('$name', ({ isTTY, env, isAllowed, level }) => {
    expect(detectColourLevel(sink(isTTY), env, { isAllowed })).toBe(level);
  });

  it('are left out of the text if there are none', async () => {
    const plain = await createPaint(0);
    expect([plain.level, plain.red.bold('a'), plain.hex('#f00')('b'), plain('c', 'd')]).toEqual([
      0,
      'a',
      'b',
      'c d',
    ]);
    expect((await createPaint(1)).red('a')).toBe('\u001b[31ma\u001b[39m');
  });
});

it('shows an error in red if there are colours', async () => {
  const runFailing = (env: Record<string, string>) => runInProcess(['nonsense'], { env });
  expect((await runFailing({ FORCE_COLOR: '1' })).stderr()).toMatch(
    /^\u001b\[31merror:\u001b\[39m /u,
  );
  expect((await runFailing({})).stderr()).toMatch(/^error: /u);
});
