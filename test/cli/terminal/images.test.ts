import { describe, expect, it } from 'vitest';
import {
  drawHalfBlocks,
  encodeIterm2,
  encodeKitty,
  encodeSixel,
} from '../../../src/cli/terminal/images/graphics.ts';
import { createMiniature } from '../../../src/cli/terminal/images/miniature.ts';
import { png } from '../../support/png.ts';

describe('a miniature', () => {
  it.each([
    { width: 1000, height: 100, drawnWidth: 360, drawnHeight: 36 },
    { width: 100, height: 1000, drawnWidth: 24, drawnHeight: 240 },
    { width: 20, height: 10, drawnWidth: 20, drawnHeight: 10 },
  ])(
    'of $width by $height pixels is $drawnWidth by $drawnHeight',
    async ({ width, height, drawnWidth, drawnHeight }) => {
      const drawn = await createMiniature(png(width, height), { width: 360, height: 240 });
      expect({ width: drawn.width, height: drawn.height }).toEqual({
        width: drawnWidth,
        height: drawnHeight,
      });
    },
  );

  it.each([
    Buffer.alloc(0),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    png(1, 1).subarray(0, 20),
  ])('of %j cannot be made', async bytes => {
    await expect(createMiniature(bytes, { width: 9, height: 9 })).rejects.toThrow();
  });
});

const PNG_BYTES = Buffer.alloc(4000, 'x');

describe('the sequence that draws an image', () => {
  const red = [255, 0, 0, 255];
  const blue = [0, 0, 255, 255];
  const clear = [0, 0, 0, 0];

  const createMiniatureOf = (width: number, height: number, pixels: number[]) => ({
    width,
    height,
    pixels: Uint8Array.from(pixels),
    png: PNG_BYTES,
  });

  it('is the PNG in pieces for kitty', () => {
    const sequence = encodeKitty(createMiniatureOf(1, 1, []));
    const pieces = sequence
      .split('\u001B\\')
      .map(piece => piece.replace('\u001B_G', '').split(';'));
    expect(pieces.map(([control]) => control)).toEqual(['f=100,a=T,q=2,m=1', 'm=0', '']);
    expect(Buffer.from(pieces.map(([, data]) => data).join(''), 'base64')).toEqual(PNG_BYTES);
  });

  it('is the PNG with its size for iTerm2', () => {
    expect(encodeIterm2(createMiniatureOf(3, 2, []))).toBe(
      `\u001B]1337;File=inline=1;size=4000;width=3px;height=2px;preserveAspectRatio=1:${PNG_BYTES.toString('base64')}\u0007`,
    );
  });

  it('is half blocks in 24-bit colour elsewhere, with the background for transparent pixels', () => {
    expect(
      drawHalfBlocks(
        createMiniatureOf(3, 2, [...red, ...red, ...clear, ...blue, ...clear, ...clear]),
      ),
    ).toBe('\u001B[38;2;255;0;0;48;2;0;0;255m▀\u001B[0;38;2;255;0;0m▀\u001B[0m \u001B[0m');
    expect(drawHalfBlocks(createMiniatureOf(1, 1, red))).toBe('\u001B[0;38;2;255;0;0m▀\u001B[0m');
  });

  it('is six rows at a time for each colour in sixels, nothing for transparent pixels', () => {
    const rows = [
      [...red, ...red, ...red, ...red, ...red],
      [...blue, ...clear, ...clear, ...clear, ...clear],
    ].flat();

    expect(encodeSixel(createMiniatureOf(5, 2, rows))).toBe(
      '\u001BP0;1q"1;1;5;2#5;2;0;0;100#180;2;100;0;0#180!5@$#5A!4?\u001B\\',
    );
  });
});
