import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createEngines } from '../../../src/models/engines.ts';
import { createJob } from '../job.ts';

const { clip } = createEngines({ dataDir: 'nowhere', env: {} });

async function renderFilm(template: string): Promise<Buffer> {
  const { outputs } = await clip.run(createJob({ template }));
  const [output] = outputs;
  if (output?.type !== 'video') throw new Error('the engine gave no video');
  expect(output.mediaType).toBe('video/mp4');
  return Buffer.from(output.bytes);
}

/** Returns the boxes of a file, or of a part of one, in order. */
function listBoxes(bytes: Buffer): { type: string; body: Buffer }[] {
  const boxes: { type: string; body: Buffer }[] = [];
  for (let index = 0; index < bytes.length; index += bytes.readUInt32BE(index)) {
    const body = bytes.subarray(index + 8, index + bytes.readUInt32BE(index));
    boxes.push({ type: bytes.toString('latin1', index + 4, index + 8), body });
  }
  return boxes;
}

function find(bytes: Buffer, ...types: string[]): Buffer {
  return types.reduce((within, type) => {
    const found = listBoxes(within).find(box => box.type === type);
    if (!found) throw new Error(`no box ${type}`);
    return found.body;
  }, bytes);
}

describe('clip', () => {
  it('is an MP4 file of two seconds with its pictures at the stated offsets', async () => {
    const film = await renderFilm('Harbour at dusk');
    expect(listBoxes(film).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);

    const head = find(film, 'moov', 'mvhd');
    expect(head.readUInt32BE(16) / head.readUInt32BE(12)).toBe(2);

    const table = find(film, 'moov', 'trak', 'mdia', 'minf', 'stbl');
    const first = find(table, 'stco').readUInt32BE(8);
    const sizes = find(table, 'stsz');
    const length = film.readUInt32BE(first);

    expect(sizes.readUInt32BE(12)).toBe(length + 4);
    expect(film.readUInt8(first + 4)).toBe(0x65);
    expect(film.readUInt8(first + 4 + length + 4)).toBe(0x41);

    const total = Array.from({ length: sizes.readUInt32BE(8) }, (_, index) =>
      sizes.readUInt32BE(12 + index * 4),
    );
    expect(first + total.reduce((sum, size) => sum + size, 0)).toBe(film.length);
  });

  it('is the same for every prompt, and a few kilobytes', async () => {
    const film = await renderFilm('Hello');
    expect(film.equals(await renderFilm('Goodbye'))).toBe(true);
    expect(film.length).toBeLessThan(8 * 1024);
  });

  it.skipIf(spawnSync('ffmpeg', ['-version']).status !== 0)('is opened by a player', async () => {
    const raw = ['-pix_fmt', 'rgba', '-f', 'rawvideo', '-'];
    const played = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', '-', ...raw], {
      input: await renderFilm('Harbour at dusk'),
      maxBuffer: 2 ** 24,
    });
    expect(played.stderr.toString()).toBe('');
    expect(played.stdout.length).toBe(48 * 48 * 32 * 4);
  });
});
