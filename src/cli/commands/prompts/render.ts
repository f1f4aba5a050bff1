import type { PromptDefinition } from '../../../prompts/definition.ts';
import type { PromptPreview } from '../../../prompts/render/preview-prompt.ts';
import { isJsonObject, readValueAt } from '../../../utils/bounded-json.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { notFoundError } from '../../core/errors.ts';
import { findMissingInputFault, findSuppliedInputFault } from '../../inputs/check-inputs.ts';
import {
  type ImageOpener,
  type ImageSource,
  isImageUrl,
  openImage,
  readImageBytes,
} from '../../inputs/images/image-source.ts';
import { openImages, openNamedImages, placeImages } from '../../inputs/images/place-images.ts';
import type { InputFields } from '../../inputs/input-fields.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { collectTypedInputs } from '../../inputs/text-inputs.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { withPromptFile } from '../../targets/git/revision.ts';
import { findVersionDefinition, readPromptDefinition } from '../../targets/prompt-definition.ts';
import { findPromptFile } from '../../targets/prompt-file.ts';
import { readNamedPrompt } from '../../targets/prompt-name.ts';
import { escapeControls, toOneLine } from '../../terminal/sanitise.ts';
import type { PROMPTS_RENDER } from './spec.ts';

export type RenderFlags = FlagsOf<typeof PROMPTS_RENDER.flags>;

/** Shows the messages that a model would get. */
export async function printRenderedPrompt(
  ctx: Context,
  prompt: string,
  flags: RenderFlags,
): Promise<void> {
  const file = findPromptFile(ctx, prompt, 'command line');
  if (file === undefined) requireLocalService(ctx, 'prompts render');
  const suppliedInputs = await collectTypedInputs(ctx, {
    inputs: flags.input,
    images: flags.image,
    ...(flags.inputs !== undefined && { inputsFile: flags.inputs }),
  });

  const definition =
    file === undefined
      ? await findPublishedDefinition(ctx, prompt)
      : await withPromptFile(ctx, file, content => readPromptDefinition(ctx, content));
  if (definition === undefined) {
    throw notFoundError(`the prompt "${toOneLine(prompt)}" does not exist`);
  }

  const preview = await createPreview(ctx, definition, suppliedInputs);
  await present(ctx, preview, {
    terminal: () => escapeControls(formatMessages(preview)),
    plain: () => formatMessages(preview),
    paged: true,
  });
}

async function findPublishedDefinition(
  ctx: Context,
  prompt: string,
): Promise<PromptDefinition | undefined> {
  const { promptVersionId } = await readNamedPrompt(ctx, await ctx.connection(), prompt);
  return findVersionDefinition(ctx, promptVersionId);
}

type TypedInputs = Awaited<ReturnType<typeof collectTypedInputs>>;

async function createPreview(
  ctx: Context,
  definition: PromptDefinition,
  suppliedInputs: TypedInputs,
): Promise<PromptPreview> {
  const [{ toPromptConfig }, { previewFromTexts }] = await Promise.all([
    import('../../../prompts/definition.ts'),
    import('../../../prompts/render/preview-prompt.ts'),
  ]);
  const fields = readInputFields(toPromptConfig(definition));
  const placedImages = await placeImageUrls(ctx, fields, suppliedInputs);
  const { images, namedUrls, otherUrls, locationNames } = placedImages;

  const isTemplateValue = ([key]: readonly [string, unknown]): boolean => !locationNames.has(key);
  const values = Object.entries(suppliedInputs.values).filter(isTemplateValue);
  const text = new Map(Object.entries(suppliedInputs.texts).filter(isTemplateValue));

  // Values of --inputs keep their types.
  const fault =
    findSuppliedInputFault(fields, { text, images: namedUrls }, []) ??
    findMissingInputFault(fields, { text: new Map([...values, ...text]), images });
  if (fault !== undefined) throw fault;

  return await previewFromTexts(definition, {
    inputs: Object.fromEntries([...values, ...namedUrls]),
    texts: Object.fromEntries(text),
    images: otherUrls,
  });
}

interface PlacedImageUrls {
  /** The URLs of images in the prompt's order; undefined if one is missing. */
  readonly images: readonly (string | undefined)[];
  /** The URLs of images by the names of their inputs. */
  readonly namedUrls: readonly (readonly [name: string, url: string])[];
  /** The URLs of the remaining images. */
  readonly otherUrls: readonly string[];
  /** The names of inputs whose texts are the locations of images. */
  readonly locationNames: ReadonlySet<string>;
}

/** Places images. A text for an image input is the location of its image. */
async function placeImageUrls(
  ctx: Context,
  fields: InputFields,
  { values, texts, images }: TypedInputs,
): Promise<PlacedImageUrls> {
  const opener = createImageUrlOpener(ctx);
  const textValues = Object.entries({ ...values, ...texts }).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  const unplacedInputs = { text: new Map(textValues), images: await openImages(opener, images) };
  const openedInputs = await openNamedImages(fields, unplacedInputs, opener);
  const { images: placedUrls } = placeImages(fields, openedInputs);

  return {
    images: placedUrls,
    namedUrls: fields.images.flatMap(({ name = '' }, index) =>
      placedUrls[index] === undefined ? [] : [[name, placedUrls[index]] as const],
    ),
    otherUrls: placedUrls.slice(fields.images.length).filter(url => url !== undefined),
    locationNames: new Set(
      [...unplacedInputs.text.keys()].filter(key => !openedInputs.text.has(key)),
    ),
  };
}

/** Formats messages for people: the role, then the content. */
function formatMessages({ messages }: PromptPreview): string {
  return messages
    .map(message => {
      const parts = readValueAt(message, 'content');
      const texts = Array.isArray(parts) ? parts.map(formatMessagePart) : [];
      return `${String(readValueAt(message, 'role'))}:\n${texts.join('').trim()}\n`;
    })
    .join('\n');
}

function formatMessagePart(part: unknown): string {
  const text = readValueAt(part, 'text');
  if (typeof text === 'string') return text;
  const media = readValueAt(part, 'media');
  if (!isJsonObject(media)) return `${JSON.stringify(part)}\n`;
  const type = typeof media['contentType'] === 'string' ? ` ${media['contentType']}` : '';
  return `[media${type}: ${shortenUrl(String(media['url']))}]\n`;
}

/** Maximum length of a `data:` URL that is shown whole. */
const MAX_SHOWN_URL_LENGTH = 80;

/** Length of the shown beginning of a longer one. */
const SHORTENED_URL_LENGTH = 60;

/** Shortens a long `data:` URL, because its base64 is unreadable. */
function shortenUrl(url: string): string {
  return url.startsWith('data:') && url.length > MAX_SHOWN_URL_LENGTH
    ? `${url.slice(0, SHORTENED_URL_LENGTH)}… (${url.length} characters)`
    : url;
}

/**
 * Returns an opener of images as URLs: `data:` URLs of files and standard input, other URLs
 * unchanged. Fetches nothing.
 */
function createImageUrlOpener(ctx: Context): ImageOpener<string> {
  return {
    cwd: ctx.cwd,
    open: async image => (isImageUrl(image) ? image : toImageUrl(await openImage(ctx, image))),
  };
}

async function toImageUrl(image: ImageSource): Promise<string> {
  if (image.kind === 'url') return image.url;
  const bytes = await readImageBytes(image);
  const { fileTypeFromBuffer } = await import('file-type');
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}
