import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import type { ImageSource } from '../inputs/images/image-source.ts';
import { openImage } from '../inputs/images/open-image.ts';

/** Whether a file lies below a directory, by its real path; one that is not there does not. */
export function isBelow(directory: string, file: string): boolean {
  try {
    const relative = path.relative(realpathSync(directory), realpathSync(file));
    return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
  } catch {
    return false;
  }
}

/**
 * An image that an agent names: an https URL, or a file below the working directory.
 *
 * @throws {CliError} USAGE_ERROR for any other
 */
export async function openNamedImage(ctx: Context, name: string): Promise<ImageSource> {
  const isUrl = /^(?:[a-z][a-z0-9+.-]*:\/\/|data:)/iu.test(name);
  if (name !== '-' && (isUrl || isBelow(ctx.cwd, path.resolve(ctx.cwd, name)))) return openImage(ctx, name);
  throw usageError(`the image ${JSON.stringify(name)} is not a file below the working directory`);
}
