import type { LocalPromptTarget } from '../../../service/prompts/local-prompts.ts';
import type { PromptPreview } from '../../../service/prompts/preview.ts';
import type { Context } from '../../context.ts';
import { isObject, own } from '../../core/json-value.ts';
import { notFoundError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import { openImage } from '../../inputs/images/open-image.ts';
import { promptFileOf, withLocalStore, withPromptFile } from '../../inputs/prompt-file.ts';
import { askOfPrompt, readPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { collectTypedInputs } from '../../inputs/typed-inputs.ts';
import { present } from '../../outputs/present.ts';
import { requireLocalService } from '../../settings/config/address.ts';
import { visible } from '../../terminal/sanitise.ts';

export interface RenderFlags {
  readonly input: readonly string[];
  readonly inputs?: string;
  readonly image: readonly string[];
}

/** Shows what a model would be sent. */
export async function promptsRender(ctx: Context, prompt: string, flags: RenderFlags): Promise<ExitCode> {
  const file = promptFileOf(ctx, prompt);
  if (file === undefined) requireLocalService(ctx, 'prompts render');
  const given = await collectTypedInputs(ctx, {
    inputs: flags.input,
    images: flags.image,
    ...(flags.inputs !== undefined && { inputsFile: flags.inputs }),
  });
  const images = await pictureUrls(ctx, given.images);
  const render = (target: LocalPromptTarget): Promise<PromptPreview | undefined> =>
    withLocalStore(ctx, store => store.render(target, { inputs: given.values, texts: given.texts, images }));
  const preview =
    file === undefined
      ? await render(await versionOf(ctx, prompt))
      : await withPromptFile(file, content =>
          render({ file: content, allowOutside: ctx.globals.allowOutside }),
        );
  if (preview === undefined) throw notFoundError(`there is no prompt ${JSON.stringify(prompt)}`);
  await present(ctx, preview, {
    terminal: () => visible(messagesText(preview)),
    plain: () => messagesText(preview),
    paged: true,
  });
  return EXIT.ok;
}

async function versionOf(ctx: Context, prompt: string): Promise<LocalPromptTarget> {
  const connection = await ctx.connection();
  const named = await resolvePrompt(ctx, connection, prompt);
  return askOfPrompt(connection, named, ctx.signal, of => readPrompt(connection, of, ctx.signal));
}

/** The messages as people read them: who speaks, then what is said. */
function messagesText({ messages }: PromptPreview): string {
  return messages
    .map(message => {
      const parts = own(message, 'content');
      const texts = Array.isArray(parts) ? parts.map(partText) : [];
      return `${String(own(message, 'role'))}:\n${texts.join('').trim()}\n`;
    })
    .join('\n');
}

function partText(part: unknown): string {
  const text = own(part, 'text');
  if (typeof text === 'string') return text;
  const media = own(part, 'media');
  if (!isObject(media)) return `${JSON.stringify(part)}\n`;
  const type = typeof media['contentType'] === 'string' ? ` ${media['contentType']}` : '';
  return `[media${type}: ${shortUrl(String(media['url']))}]\n`;
}

/** Nobody reads the base64 of a picture. */
function shortUrl(url: string): string {
  return url.startsWith('data:') && url.length > 80 ? `${url.slice(0, 60)}… (${url.length} characters)` : url;
}

/** Pictures as URLs: files and standard input as `data:` URLs, URLs as they are, of any kind. Fetches nothing. */
async function pictureUrls(ctx: Context, given: readonly string[]): Promise<string[]> {
  const urls: string[] = [];
  for (const image of given) {
    urls.push(isUrl(image) ? image : await dataUrlOf(await openImage(ctx, image)));
  }
  return urls;
}

function isUrl(given: string): boolean {
  return /^(?:data:|[a-z][a-z0-9+.-]*:\/\/)/iu.test(given);
}

async function dataUrlOf(image: ImageSource): Promise<string> {
  if (image.kind === 'url') return image.url;
  const chunks: Uint8Array[] = [];
  for await (const chunk of image.chunks()) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  const { fileTypeFromBuffer } = await import('file-type');
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}
