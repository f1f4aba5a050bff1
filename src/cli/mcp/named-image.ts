import { statSync } from 'node:fs';
import path from 'node:path';
import { isBelow } from '../../files/named-file.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { type ImageFinder, isImageUrl, openImage } from '../inputs/images/image-source.ts';

/** Images that an agent names: https URLs, or files below the working directory; any other is refused. */
export function imagesBelow(ctx: Context): ImageFinder {
  const { cwd } = ctx;
  return {
    cwd,
    async open(name) {
      const file = path.resolve(cwd, name);
      if (isImageUrl(name) || (name !== '-' && isBelow(cwd, file) && statSync(file).isFile()))
        return openImage(ctx, name);
      throw usageError(`the image ${JSON.stringify(name)} is not a file below the working directory`);
    },
  };
}
