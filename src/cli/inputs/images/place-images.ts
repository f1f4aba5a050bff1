import { statSync } from 'node:fs';
import path from 'node:path';
import { usageError } from '../../errors.ts';
import { checkInputs } from '../check.ts';
import type { InputFields } from '../input-fields.ts';
import type { ImageFinder, ImageSource } from './image-source.ts';

/** An image, by the name of its input if it was given so: only the prompt's config tells the place of that. */
export interface GivenImage<Image = ImageSource> {
  readonly name?: string;
  readonly image: Image;
}

/** Texts and images that were given in one place: on the command line, in a row, in a case. */
export interface GivenInputs<Image = ImageSource> {
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly GivenImage<Image>[];
}

/** The inputs of a run. */
export interface RunInputs<Image = ImageSource | undefined> {
  readonly text: ReadonlyMap<string, string>;
  /** In the prompt's order; undefined in a place that nothing was given for. */
  readonly images: readonly Image[];
}

const NAMED = /^(?<name>[^=/\\:]+)=(?<file>.+)$/su;

/** Opens images in their order, `name=file` too; every one is checked before anything is sent. */
export async function openGivenImages<Image>(
  { cwd, open }: ImageFinder<Image>,
  sources: readonly string[],
): Promise<GivenImage<Image>[]> {
  const images: GivenImage<Image>[] = [];
  for (const text of sources) {
    const { name, file } = NAMED.exec(text)?.groups ?? {};
    const isFile = (): boolean => statSync(path.resolve(cwd, text), { throwIfNoEntry: false }) !== undefined;
    images.push(
      name === undefined || file === undefined || isFile()
        ? { image: await open(text) }
        : { name, image: await open(file) },
    );
  }
  return images;
}

/** Opens the images that texts name: those under the name of an image input. An empty text is none. */
export async function takeNamedImages<Image>(
  fields: InputFields,
  { text, images }: GivenInputs<Image>,
  { open }: Pick<ImageFinder<Image>, 'open'>,
): Promise<GivenInputs<Image>> {
  const names = new Set(fields.images.map(({ name }) => name));
  for (const { key } of fields.text) names.delete(key);
  const texts = new Map(text);
  const named: GivenImage<Image>[] = [];
  for (const [name, file] of text) {
    if (!names.has(name)) continue;
    texts.delete(name);
    if (file !== '') named.push({ name, image: await open(file) });
  }
  return { text: texts, images: [...named, ...images] };
}

/** Adds what is the same for every run: it wins over what one has of its own, and its images stand before those. */
export function withCommonInputs(common: GivenInputs, own: GivenInputs): GivenInputs {
  const isCommon = ({ name }: GivenImage): boolean =>
    name !== undefined && common.images.some(image => image.name === name);
  return {
    text: new Map([...own.text, ...common.text]),
    images: [...common.images, ...own.images.filter(image => !isCommon(image))],
  };
}

/** Puts images in the places of their names, those without one in the first places that are free. */
export function placeImages<Image>(
  fields: InputFields,
  { text, images }: GivenInputs<Image>,
): RunInputs<Image | undefined> {
  const names = fields.images.map(({ name }) => name);
  const places: (Image | undefined)[] = fields.images.map(() => undefined);
  for (const { name, image } of images) {
    if (name === undefined) continue;
    const at = names.indexOf(name);
    if (at < 0) throw noSuchImage(name, names);
    if (places[at] !== undefined) throw usageError(`the image ${name} is given twice`);
    places[at] = image;
  }
  for (const { name, image } of images) {
    if (name !== undefined) continue;
    const free = places.indexOf(undefined);
    if (free < 0) places.push(image);
    else places[free] = image;
  }
  while (places.length > 0 && places.at(-1) === undefined) places.pop();
  return { text, images: places };
}

function noSuchImage(name: string, names: readonly (string | undefined)[]): Error {
  const known = names.filter(one => one !== undefined);
  return usageError(
    `no image of the prompt is called ${JSON.stringify(name)}`,
    ...(known.length === 0 ? [] : [`The prompt's images: ${known.join(', ')}`]),
  );
}

/** The inputs of a run that nothing more is asked for. @throws {CliError} USAGE_ERROR for what the config refuses */
export function checkedInputs(fields: InputFields, named: GivenInputs): RunInputs<ImageSource> {
  const { text, images } = placeImages(fields, named);
  checkInputs(fields, { text, images });
  return { text, images: images.filter(image => image !== undefined) };
}
