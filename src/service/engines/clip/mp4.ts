import type { Size } from './h264.ts';

export interface Film extends Size {
  readonly framesPerSecond: number;
  /** The parameter sets of the stream. */
  readonly sequence: Buffer;
  readonly picture: Buffer;
  /** The first stands for itself, the others build on the one before. */
  readonly frames: readonly Buffer[];
}

/** Puts an H.264 film into an MP4 file (ISO/IEC 14496-12, -15); what describes it comes before the pictures. */
export function mp4(film: Film): Buffer {
  const type = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'));
  const pictures = film.frames.map(frame => Buffer.concat([u32(frame.length), frame]));
  // The description is as long for one place of the pictures as for any other.
  const start = type.length + movie(film, 0).length + 8;
  return Buffer.concat([type, movie(film, start), box('mdat', ...pictures)]);
}

function movie(film: Film, start: number): Buffer {
  const duration = film.frames.length;
  const head = fullBox(
    'mvhd',
    0,
    u32(0, 0, film.framesPerSecond, duration, 0x10000),
    u16(0x100, 0),
    u32(0, 0),
    MATRIX,
    zeros(24),
    u32(2),
  );
  return box('moov', head, track(film, start));
}

/** No turning, no scaling. */
const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

function track(film: Film, start: number): Buffer {
  const { width, height, framesPerSecond, frames } = film;
  const head = fullBox(
    'tkhd',
    3,
    u32(0, 0, 1, 0, frames.length),
    zeros(16),
    MATRIX,
    u32(width * 0x10000, height * 0x10000),
  );
  const undetermined = 0x55c4;
  const media = box(
    'mdia',
    fullBox('mdhd', 0, u32(0, 0, framesPerSecond, frames.length), u16(undetermined, 0)),
    fullBox('hdlr', 0, u32(0), text('vide'), zeros(12), text('video\0')),
    box(
      'minf',
      fullBox('vmhd', 1, zeros(8)),
      box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1))),
      samples(film, start),
    ),
  );
  return box('trak', head, media);
}

/** One picture after the other, each as long as the others, all in one piece. */
function samples({ frames, ...film }: Film, start: number): Buffer {
  const sizes = frames.map(frame => frame.length + 4);
  return box(
    'stbl',
    fullBox('stsd', 0, u32(1), sampleEntry(film)),
    fullBox('stts', 0, u32(1, frames.length, 1)),
    fullBox('stss', 0, u32(1, 1)),
    fullBox('stsc', 0, u32(1, 1, frames.length, 1)),
    fullBox('stsz', 0, u32(0, sizes.length, ...sizes)),
    fullBox('stco', 0, u32(1, start)),
  );
}

function sampleEntry({ width, height, sequence, picture }: Omit<Film, 'frames'>): Buffer {
  const resolution = 72 * 0x10000;
  const described = Buffer.concat([
    Buffer.from([1, ...sequence.subarray(1, 4), 0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.of(1),
    u16(picture.length),
    picture,
  ]);
  return box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    u32(resolution, resolution, 0),
    u16(1),
    zeros(32),
    u16(24, 0xffff),
    box('avcC', described),
  );
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
}

function fullBox(type: string, flags: number, ...parts: Buffer[]): Buffer {
  return box(type, u32(flags), ...parts);
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) {
    bytes.writeUInt32BE(value, index * 4);
  }
  return bytes;
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) {
    bytes.writeUInt16BE(value, index * 2);
  }
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}
