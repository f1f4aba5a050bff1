import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ImageSource,
  openImage,
  readImageBytes,
} from '../../../../src/cli/inputs/images/image-source.ts';
import { testContext } from '../../../support/context.ts';
import { png } from '../../../support/png.ts';
import { isPosix } from '../../../support/system.ts';

type BytesImage = Extract<ImageSource, { kind: 'bytes' }>;

async function writeAndOpen(content: Buffer): Promise<{ file: string; image: BytesImage }> {
  const { ctx, home } = await testContext();
  const file = path.join(home, 'image');
  writeFileSync(file, content);
  return { file, image: (await openImage(ctx, 'image')) as BytesImage };
}

describe('an image in a file', () => {
  const largeImage = Buffer.concat([png(1, 1), Buffer.alloc(700_001, 'x')]);

  it('has the bytes that were checked each time it is sent', async () => {
    const { image } = await writeAndOpen(largeImage);
    expect(image).toMatchObject({
      size: largeImage.length,
      sha256: createHash('sha256').update(largeImage).digest('hex'),
    });
    expect((await readImageBytes(image)).equals(largeImage)).toBe(true);
    expect((await readImageBytes(image)).equals(largeImage)).toBe(true);
  });

  it.each<{ name: string; change: (file: string) => void }>([
    { name: 'grows', change: file => appendFileSync(file, 'more') },
    { name: 'shrinks', change: file => writeFileSync(file, largeImage.subarray(0, 1000)) },
    {
      name: 'changes',
      change: file => writeFileSync(file, Buffer.from(largeImage).fill('y', 700_000)),
    },
  ])('that $name after the check is refused while it is sent', async ({ change }) => {
    const { file, image } = await writeAndOpen(largeImage);
    change(file);
    await expect(readImageBytes(image)).rejects.toThrow(
      'image image changed while it was being sent',
    );
  });

  it('that was deleted after the check is reported', async () => {
    const { file, image } = await writeAndOpen(largeImage);
    rmSync(file);
    await expect(readImageBytes(image)).rejects.toThrow('image does not exist');
  });

  it.runIf(isPosix)('may come through a pipe', async () => {
    const { ctx, home } = await testContext();
    const pipe = path.join(home, 'pipe');
    writeFileSync(path.join(home, 'source'), largeImage);
    execFileSync('sh', ['-c', 'mkfifo pipe; cat source > pipe &'], { cwd: home, stdio: 'ignore' });
    const image = (await openImage(ctx, pipe)) as BytesImage;
    expect((await readImageBytes(image)).equals(largeImage)).toBe(true);
  });
});

describe('an image', () => {
  it.each([
    { name: 'a data URL', url: `data:image/png;base64,${png(2, 1).toString('base64')}` },
    {
      name: 'a data URL with line breaks',
      url: `data:image/png;base64,${png(2, 1)
        .toString('base64')
        .replace(/(.{20})/gu, '$1\n')}`,
    },
    { name: 'a data URL without a type', url: `data:;base64,${png(2, 1).toString('base64')}` },
    {
      name: 'a percent-encoded data URL',
      url: `data:image/png,${[...png(2, 1)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')}`,
    },
  ])('may be given as $name', async ({ url }) => {
    const { ctx } = await testContext();
    expect(await readImageBytes((await openImage(ctx, url)) as BytesImage)).toEqual(png(2, 1));
  });

  it.each(['https:///', 'https://[', 'HTTP://example.com/a.png', 'file:///etc/hostname'])(
    'is refused as %s',
    async source => {
      const { ctx } = await testContext();
      await expect(openImage(ctx, source)).rejects.toThrow(/not a valid URL|not an https URL/);
    },
  );
});
