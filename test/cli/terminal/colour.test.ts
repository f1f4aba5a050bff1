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
    ['on a terminal', true, xterm, true, 2],
    ['on one that says more', true, { ...xterm, COLORTERM: 'truecolor' }, true, 3],
    ['not in a pipe', false, xterm, true, 0],
    ['not with --no-color', true, { ...xterm, FORCE_COLOR: '1' }, false, 0],
    ['not with NO_COLOR', true, { ...xterm, NO_COLOR: '1' }, true, 0],
    ['with an empty NO_COLOR', true, { ...xterm, NO_COLOR: '' }, true, 2],
    ['not on a dumb terminal', true, { TERM: 'dumb' }, true, 0],
    ['in a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true, 1],
    ['in a pipe with an empty FORCE_COLOR', false, { FORCE_COLOR: '' }, true, 1],
    ['as many as FORCE_COLOR says', false, { FORCE_COLOR: '3', NO_COLOR: '1' }, true, 3],
    ['not with FORCE_COLOR=0', true, { ...xterm, FORCE_COLOR: '0' }, true, 0],
  ])('%s', (_, isTTY, env, isAllowed, level) => {
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
