import { statSync } from 'node:fs';
import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { checkInputs, type InputHints } from '../check-inputs.ts';
import type { InputFields } from '../input-fields.ts';
import { type ImageOpener, type ImageSource, isImageUrl } from './image-source.ts';

/**
 * An image, with the name of its input if it has one; the prompt's config then decides its place.
 */
export interface UnplacedImage<Image = ImageSource> {
  readonly name?: string;
  readonly image: Image;
}

/** Texts and images from one place: the command line, a row or a case. */
export interface UnplacedInputs<Image = ImageSource> {
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly UnplacedImage<Image>[];
}

export interface PlacedInputs<Image = ImageSource | undefined> {
  readonly text: ReadonlyMap<string, string>;
  /** The images in the prompt's order; a missing one is undefined. */
  readonly images: readonly Image[];
}

const NAMED_IMAGE_SOURCE = /^(?<name>[^=/\\:]+)=(?<file>.+)$/su;

/**
 * Opens and checks images, such as `cat.png` or `photo=cat.png`, in their order. A file that is
 * called `photo=cat.png` has no name of an input.
 */
export async function openImages<Image>(
  { cwd, open }: ImageOpener<Image>,
  sources: readonly string[],
): Promise<UnplacedImage<Image>[]> {
  const images: UnplacedImage<Image>[] = [];
  for (const source of sources) {
    const { name, file } = NAMED_IMAGE_SOURCE.exec(source)?.groups ?? {};
    const isNamed =
      name !== undefined && file !== undefined && !fileExists(path.resolve(cwd, source));
    images.push(isNamed ? { name, image: await open(file) } : { image: await open(source) });
  }
  return images;
}

function fileExists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Moves texts with the name of an image input to the images, and opens the files that they name. An
 * empty text leaves the image out.
 */
export async function openNamedImages<Image>(
  fields: InputFields,
  { text, images }: UnplacedInputs<Image>,
  { open }: Pick<ImageOpener<Image>, 'open'>,
): Promise<UnplacedInputs<Image>> {
  const names = new Set(fields.images.map(({ name }) => name));
  for (const { key } of fields.text) names.delete(key);

  const otherTexts = new Map(text);
  const namedImages: UnplacedImage<Image>[] = [];
  for (const [name, file] of text) {
    if (!names.has(name)) continue;

    otherTexts.delete(name);
    // Text with a line break was probably read from a file (`photo=@notes.txt`).
    if (file.includes('\n') && !isImageUrl(file)) throw textForImageError(name);
    if (file !== '') namedImages.push({ name, image: await open(file) });
  }

  return { text: otherTexts, images: [...namedImages, ...images] };
}

function textForImageError(name: string): Error {
  return usageError(
    `the input ${JSON.stringify(name)} is an image, not text`,
    `Give the name of an image file, without @: ${name}=picture.png`,
  );
}

/**
 * Adds the inputs that all runs share. They win over a run's own inputs, and their images without
 * a name take the first free places.
 */
export function withCommonInputs(
  commonInputs: UnplacedInputs,
  rowInputs: UnplacedInputs,
): UnplacedInputs {
  const isCommon = ({ name }: UnplacedImage): boolean =>
    name !== undefined && commonInputs.images.some(image => image.name === name);
  return {
    text: new Map([...rowInputs.text, ...commonInputs.text]),
    images: [...commonInputs.images, ...rowInputs.images.filter(image => !isCommon(image))],
  };
}

/** Puts named images in the places of their inputs, and the others in the first free places. */
export function placeImages<Image>(
  fields: InputFields,
  { text, images }: UnplacedInputs<Image>,
): PlacedInputs<Image | undefined> {
  const names = fields.images.map(({ name }) => name);
  const placedImages: (Image | undefined)[] = fields.images.map(() => undefined);
  for (const { name, image } of images) {
    if (name === undefined) continue;

    const index = names.indexOf(name);
    if (index < 0) throw unknownImageError(name, names);
    if (placedImages[index] !== undefined) throw usageError(`the image ${name} is given twice`);
    placedImages[index] = image;
  }

  for (const { name, image } of images) {
    if (name !== undefined) continue;

    const freeIndex = placedImages.indexOf(undefined);
    if (freeIndex < 0) {
      placedImages.push(image);
    } else {
      placedImages[freeIndex] = image;
    }
  }

  // Missing images at the end need no place.
  while (placedImages.length > 0 && placedImages.at(-1) === undefined) placedImages.pop();
  return { text, images: placedImages };
}

function unknownImageError(name: string, names: readonly (string | undefined)[]): Error {
  const knownNames = names.filter(knownName => knownName !== undefined);
  const message = `no image of the prompt is called ${JSON.stringify(name)}`;
  if (knownNames.length === 0) return usageError(message);
  return usageError(message, `The prompt's images: ${knownNames.join(', ')}`);
}

/**
 * Puts the images of a run in the places of their inputs, and checks all inputs.
 *
 * @throws {CliError} USAGE_ERROR if the config refuses them
 */
export function placeAndCheckInputs(
  fields: InputFields,
  unplacedInputs: UnplacedInputs,
  inputHints?: InputHints,
): PlacedInputs<ImageSource> {
  const { text, images } = placeImages(fields, unplacedInputs);
  checkInputs(fields, { text, images }, { bypassHints: [], inputHints });
  return { text, images: images.filter(image => image !== undefined) };
}
