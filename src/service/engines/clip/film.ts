import type { Pixels } from '../card/draw.ts';
import { encodeFrame, type Frame, type Macroblock, parameterSets } from './h264.ts';
import { mp4 } from './mp4.ts';

const FRAMES_PER_SECOND = 24;
const SECONDS = 2;
const FRAMES = FRAMES_PER_SECOND * SECONDS;

/**
 * A film of two seconds that shows a picture, with a bar along its foot that fills as it plays. Gives an MP4 file.
 *
 * @param picture its sides are multiples of 16
 */
export function film(picture: Pixels): Buffer {
  const { width, height } = picture;
  let shown = withBar(picture, 0);
  const frames = [encodeFrame(everySquare(shown), 0, picture)];
  for (let number = 1; number < FRAMES; number += 1) {
    const next = withBar(picture, number / (FRAMES - 1));
    frames.push(encodeFrame(changedSquares(shown, next), number, picture));
    shown = next;
  }
  return mp4({ width, height, framesPerSecond: FRAMES_PER_SECOND, ...parameterSets(picture), frames });
}

const BAR_HEIGHT = 16;

/** The picture with so much of the bar filled, from 0 to 1. */
function withBar({ width, height, rgba }: Pixels, filled: number): Pixels {
  const drawn = Buffer.from(rgba);
  const edge = Math.round(width * filled);
  for (let y = height - BAR_HEIGHT; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      drawn.fill(x < edge ? 0xff : 0x30, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  return { width, height, rgba: drawn };
}

function everySquare(pixels: Pixels): Frame {
  const count = (pixels.width / 16) * (pixels.height / 16);
  return new Map(Array.from({ length: count }, (_, index) => [index, macroblock(pixels, index)]));
}

/** Only the bar changes. */
function changedSquares(before: Pixels, after: Pixels): Frame {
  const across = after.width / 16;
  const first = across * (after.height / 16 - 1);
  const changed = new Map<number, Macroblock>();
  for (let index = first; index < first + across; index += 1) {
    const square = macroblock(after, index);
    if (!Buffer.from(square).equals(macroblock(before, index))) changed.set(index, square);
  }
  return changed;
}

/** A square in the colours of television (BT.601, limited range): brightness of each pixel, colour of each four. */
function macroblock({ width, rgba }: Pixels, index: number): Macroblock {
  const across = width / 16;
  const left = (index % across) * 16;
  const top = Math.floor(index / across) * 16;
  const samples = new Uint8Array(384);
  const colour = (x: number, y: number): readonly [number, number, number] => {
    const at = ((top + y) * width + left + x) * 4;
    return [rgba.readUInt8(at), rgba.readUInt8(at + 1), rgba.readUInt8(at + 2)];
  };
  for (let pixel = 0; pixel < 256; pixel += 1) {
    const [red, green, blue] = colour(pixel % 16, Math.floor(pixel / 16));
    samples[pixel] = 16 + 0.257 * red + 0.504 * green + 0.098 * blue;
  }
  for (let block = 0; block < 64; block += 1) {
    const [red, green, blue] = colour((block % 8) * 2, Math.floor(block / 8) * 2);
    samples[256 + block] = 128 - 0.148 * red - 0.291 * green + 0.439 * blue;
    samples[320 + block] = 128 + 0.439 * red - 0.368 * green - 0.071 * blue;
  }
  return samples;
}
