import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { withTimeout } from '../../utils/abort-signals.ts';
import type { Connection, Context } from '../context.ts';
import { detectGraphics } from '../terminal/images/graphics.ts';
import { readMedia } from './media-content.ts';

/** Maximum size of an image to fetch for a preview, in bytes. */
const MAX_PREVIEW_BYTES = 16 * 1024 * 1024;

/** Time limit of a preview, in milliseconds. */
const PREVIEW_TIMEOUT_MS = 10_000;

/** Shows a small image if the terminal can. After any fault there is just no preview. */
export async function showPreview(
  ctx: Context,
  connection: Connection,
  url: string,
  file: string | undefined,
): Promise<void> {
  const graphics = await detectGraphics(ctx);
  if (graphics === undefined) return;
  try {
    const bytes =
      file === undefined
        ? await withTimeout(PREVIEW_TIMEOUT_MS, ctx.signal, signal =>
            readMedia(connection.client, url, { maxBytes: MAX_PREVIEW_BYTES, signal }),
          )
        : await readFile(path.resolve(ctx.cwd, file));
    if (bytes === undefined) return;
    const { createMiniature } = await import('../terminal/images/miniature.ts');
    await ctx.io.out(`${graphics.draw(await createMiniature(bytes, graphics.maxSize))}\n`);
  } catch {
    ctx.signal.throwIfAborted();
  }
}
