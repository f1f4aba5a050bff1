import { describe, expect, it } from 'vitest';
import type { FetchImageOptions } from '../../../src/models/outgoing/fetch-image.ts';
import { describeImage } from '../../../src/prompts/render/describe-image.ts';
import { Refusal } from '../../../src/service/core/refusal.ts';
import { loadImageInputs } from '../../../src/service/runs/load-images.ts';
import type { ImageInput } from '../../../src/wire/index.ts';
import { png } from '../../support/png.ts';

const signal = new AbortController().signal;

const base64 = (bytes: Buffer | string): ImageInput => ({
  type: 'base64',
  base64: Buffer.from(bytes as string).toString('base64'),
});

async function findFault(
  inputs: ImageInput[],
  options: Partial<FetchImageOptions> = {},
): Promise<Refusal> {
  const fault: unknown = await loadImageInputs(inputs, { signal, ...options }).catch(
    (error: unknown) => error,
  );
  if (fault instanceof Refusal) return fault;
  throw new Error(`no fault: ${JSON.stringify(fault)}`);
}

describe('input pictures', () => {
  it('are decoded in order and recognised by their content', async () => {
    const loaded = await loadImageInputs(
      [
        base64(png(2, 3)),
        base64('GIF89a\x07\0\x09\0'),
        base64(Buffer.from([0xff, 0xd8, 0xff, 0xe0])),
      ],
      { signal },
    );
    expect(loaded.map(({ mediaType }) => mediaType)).toEqual([
      'image/png',
      'image/gif',
      'image/jpeg',
    ]);
    expect(loaded[0]?.bytes).toEqual(png(2, 3));
  });

  it('may come without padding', async () => {
    const text = png(1, 1).toString('base64').replace(/=+$/, '');
    expect(await loadImageInputs([{ type: 'base64', base64: text }], { signal })).toHaveLength(1);
  });

  it.each([
    [
      'a data URL prefix',
      `data:image/png;base64,${png(1, 1).toString('base64')}`,
      /data URL prefix/,
    ],
    ['characters that are not base64', '!!!!', /not base64/],
    ['the alphabet for URLs', 'iVBORw0K_-==', /not base64/],
    ['a line break', `${png(1, 1).toString('base64').slice(0, 40)}\n`, /not base64/],
    ['a lone character', 'iVBOR', /not base64/],
    ['padding amid', 'iVBO==Rw', /not base64/],
    ['nothing', '', /empty/],
    ['a text', Buffer.from('hello, world').toString('base64'), /not an image/],
    [
      'a program in SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>').toString('base64'),
      /not an image/,
    ],
    ['a PDF', Buffer.from('%PDF-1.7\n').toString('base64'), /not an image/],
  ])('with %s are refused', async (_, text, reason) => {
    const fault = await findFault([base64(png(1, 1)), { type: 'base64', base64: text }]);
    expect(fault.code).toBe('INVALID_REQUEST');
    expect(fault.message).toMatch(/^inputs\.imageInputs\[1\]\.base64: /);
    expect(fault.message).toMatch(reason);
  });

  it('over 20 MiB are refused', async () => {
    const large = Buffer.concat([png(1, 1), Buffer.alloc(20 * 1024 * 1024)]);
    expect((await findFault([base64(large)])).message).toMatch(/20 MiB/);
    expect(
      await loadImageInputs([base64(large.subarray(0, 20 * 1024 * 1024))], { signal }),
    ).toHaveLength(1);
  });

  it('at a URL without a picture are refused, naming its field', async () => {
    const open: NonNullable<FetchImageOptions['open']> = async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from('<html>');
      })(),
      discard: () => undefined,
    });
    const fault = await findFault([{ type: 'url', url: 'https://8.8.8.8/x.png' }], { open });
    expect(fault.message).toBe(
      'inputs.imageInputs[0].url: this is not an image, such as a PNG, JPEG, GIF or WebP file',
    );
  });
});

describe('a picture in words', () => {
  const words = (bytes: Buffer, mediaType: string): string => describeImage({ bytes, mediaType });

  it('reports its size', () => {
    expect(words(png(640, 480), 'image/png')).toMatch(/^PNG image, 640 × 480 pixels, \d/);
    expect(words(Buffer.from('GIF89a\x07\0\x09\0', 'latin1'), 'image/gif')).toBe(
      'GIF image, 7 × 9 pixels, 10 bytes',
    );

    const jpeg = Buffer.from('ffd8ffe000040000ffc0000b08000500070101110000', 'hex');
    expect(words(jpeg, 'image/jpeg')).toBe('JPEG image, 7 × 5 pixels, 22 bytes');

    const lossless = Buffer.concat([
      Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', 'latin1'),
      Buffer.from([0x06, 0x00, 0x02, 0x00]),
    ]);
    expect(words(lossless, 'image/webp')).toBe('WEBP image, 7 × 9 pixels, 25 bytes');
  });

  it.each(['image/png', 'image/gif', 'image/jpeg', 'image/webp', 'image/bmp', 'image/avif'])(
    'does without the size if a %s is cut short',
    mediaType => {
      expect(words(Buffer.from([0xff]), mediaType)).toMatch(/^[A-Z]+ image, 1 byte$/);
    },
  );

  it('is looked for in the first 512 KiB of a JPEG, which may consist of empty segments', () => {
    const frame = Buffer.from('ffc0000b080005000701011100000000', 'hex');
    const jpeg = (segments: number): Buffer =>
      Buffer.concat([
        Buffer.from('ffd8', 'hex'),
        Buffer.alloc(4 * segments, 'ffe00002', 'hex'),
        frame,
      ]);

    expect(words(jpeg(131_000), 'image/jpeg')).toBe('JPEG image, 7 × 5 pixels, 524.0 kB');
    expect(words(jpeg(132_000), 'image/jpeg')).toBe('JPEG image, 528.0 kB');
  });

  it('counts bytes for people', () => {
    expect(words(Buffer.alloc(1234), 'image/avif')).toBe('AVIF image, 1.2 kB');
    expect(words(Buffer.alloc(2_500_000), 'image/avif')).toBe('AVIF image, 2.5 MB');
  });
});
