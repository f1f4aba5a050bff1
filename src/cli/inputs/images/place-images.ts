import { statSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { InputFields } from '../input-fields.ts';
import type { ImageSource } from './image-source.ts';
import { openImage } from './open-image.ts';

/** An image that was given as `name=file`, whose place only the prompt's config tells. */
export interface NamedImage {
  readonly kind: 'named';
  readonly name: string;
  readonly file: string;
}

export type GivenImage = ImageSource | NamedImage;

/** The inputs of a run. */
export interface RunInputs<Image = ImageSource | undefined> {
  readonly text: ReadonlyMap<string, string>;
  /** In the prompt's order; undefined in a place that nothing was given for. */
  readonly images: readonly Image[];
}

const NAMED = /^(?<name>[^=/\\:]+)=(?<file>.+)$/su;

/** Opens images, those by a name aside; every one is checked before anything is sent. */
export async function openGivenImages(ctx: Context, given: readonly string[]): Promise<GivenImage[]> {
  const images: GivenImage[] = [];
  for (const image of given) {
    const { name, file } = NAMED.exec(image)?.groups ?? {};
    const isNamed =
      name !== undefined &&
      file !== undefined &&
      statSync(path.resolve(ctx.cwd, image), { throwIfNoEntry: false }) === undefined;
    images.push(isNamed ? { kind: 'named', name, file } : await openImage(ctx, image));
  }
  return images;
}

/** Puts images in the places of their names, those without one in the first places that are free. */
export async function placeImages(
  ctx: Context,
  fields: InputFields,
  { text, images }: RunInputs<GivenImage>,
): Promise<RunInputs> {
  const names = fields.images.map(({ name }) => name);
  const places: (ImageSource | undefined)[] = fields.images.map(() => undefined);
  const put = async (name: string, file: string): Promise<void> => {
    const at = names.indexOf(name);
    if (at < 0) throw noSuchImage(`${name}=${file}`, names);
    if (places[at] !== undefined) throw usageError(`the image ${name} is given twice`);
    places[at] = await openImage(ctx, file);
  };
  const texts = new Map(text);
  for (const [key, value] of text) {
    if (!names.includes(key) || fields.text.some(field => field.key === key)) continue;
    await put(key, value);
    texts.delete(key);
  }
  for (const image of images) if (image.kind === 'named') await put(image.name, image.file);
  for (const image of images) {
    if (image.kind === 'named') continue;
    const free = places.indexOf(undefined);
    if (free < 0) places.push(image);
    else places[free] = image;
  }
  while (places.length > 0 && places.at(-1) === undefined) places.pop();
  return { text: texts, images: places };
}

function noSuchImage(given: string, names: readonly (string | undefined)[]): Error {
  const known = names.filter(name => name !== undefined);
  return usageError(
    `image: there is no file ${given}`,
    ...(known.length === 0 ? [] : [`The prompt's images: ${known.join(', ')}`]),
  );
}
