import { detectImageType } from '../../files/formats/image-type.ts';
import type { PromptDefinition } from '../definition.ts';
import type { CompiledTemplates, Template } from '../template/compiled-templates.ts';
import { RENDER_LIMITS, type RenderLimits } from '../template/render-budget.ts';
import { renderTemplate } from '../template/render-template.ts';
import type { Role } from '../template/syntax.ts';
import type { TemplateMessage } from '../template/template-messages.ts';
import { InputImage } from '../template/template-values.ts';
import { describeImage } from './describe-image.ts';
import { decodeBase64, type LoadedImage } from './loaded-image.ts';
import { readTextInputs } from './typed-inputs.ts';

/** The message of a prompt that renders nothing: no provider takes a request without one. */
const EMPTY_MESSAGE: Message = { role: 'user', parts: [{ text: '' }] };

interface RenderInputs {
  /** Text inputs by key. Unknown keys are ignored; missing ones get their default. */
  readonly textInputs: Readonly<Record<string, string>>;
  /** Images in the order of the prompt's `imageInputs`. */
  readonly images: readonly LoadedImage[];
}

/** The input of a render, as plain data that can be sent to another process. */
export interface RenderWork {
  readonly definition: RenderedDefinition;
  readonly textInputs: Readonly<Record<string, string>>;
  readonly imageDescriptions: readonly string[];
}

export type RenderedDefinition = Pick<
  PromptDefinition,
  'textInputs' | 'imageInputs' | 'input' | 'frontMatter' | 'template' | 'partials'
>;

export type MessagePart = { readonly text: string } | { readonly image: LoadedImage };

/** A message for an engine. */
export interface Message {
  readonly role: Role;
  readonly parts: readonly MessagePart[];
}

export interface RenderedPrompt {
  readonly messages: readonly Message[];
  /** The messages as one text, with descriptions of images. */
  readonly text: string;
}

interface RenderFunctions {
  /** Renders the template; default: in this process. */
  readonly render?: (work: RenderWork) => Promise<readonly TemplateMessage[]>;
  /** Describes an image as text; default: by its format and size. */
  readonly describe?: (image: LoadedImage) => string | Promise<string>;
}

/**
 * Renders the prompt of a run for the engine.
 *
 * @throws {InvalidInputsError} if texts don't match the prompt's schema
 * @throws {LimitExceededError} if a limit is exceeded; the message names it
 * @throws {Error} for an image that is neither an input nor a `data:` URL
 */
export async function renderPrompt(
  definition: RenderedDefinition,
  { textInputs, images }: RenderInputs,
  { render = work => renderMessages(work), describe = describeImage }: RenderFunctions = {},
): Promise<RenderedPrompt> {
  const { textInputs: fields, imageInputs, input, frontMatter, template, partials } = definition;
  const renderedDefinition = {
    textInputs: fields,
    imageInputs,
    input,
    frontMatter,
    template,
    partials,
  };

  // A template may place an image several times, so its description is cached.
  const descriptions = new Map<LoadedImage, string>();
  for (const image of images) descriptions.set(image, await describe(image));
  const imageDescriptions = images.map(image => descriptions.get(image) ?? '');
  const templateMessages = await render({
    definition: renderedDefinition,
    textInputs,
    imageDescriptions,
  });
  const engineMessages = await Promise.all(
    templateMessages.map(message => toEngineMessage(message, images)),
  );
  const filledMessages = engineMessages.filter(({ parts }) => parts.length > 0);
  const messages = filledMessages.length > 0 ? filledMessages : [EMPTY_MESSAGE];
  const describePart = async (part: MessagePart): Promise<string> =>
    'text' in part ? part.text : (descriptions.get(part.image) ?? (await describe(part.image)));
  const texts: string[] = [];
  for (const { parts } of messages) {
    texts.push((await Promise.all(parts.map(describePart))).join(''));
  }

  return { messages, text: joinMessages(texts) };
}

interface RenderOptions extends Partial<RenderLimits> {
  /** Time to check values, in milliseconds. */
  readonly checkMs?: number;
  /** The cache for the compiled template; none by default. */
  readonly templates?: CompiledTemplates | undefined;
}

/** Returns the messages of a prompt. @throws {InvalidInputsError | LimitExceededError} */
export async function renderMessages(
  { definition, textInputs, imageDescriptions }: RenderWork,
  { checkMs, templates, ...limits }: RenderOptions = {},
): Promise<TemplateMessage[]> {
  const values = await readTextInputs(definition, textInputs, checkMs);
  const placedImages = definition.imageInputs.flatMap(({ key }, index): [string, InputImage][] => {
    const description = imageDescriptions[index];
    return description === undefined ? [] : [[key, new InputImage(index, description)]];
  });
  const inputs = { ...values, ...Object.fromEntries(placedImages) };
  const templateInputs = { inputs, variables: toPromptVariables(definition) };

  return renderTemplate(
    completeTemplate(definition),
    templateInputs,
    { ...RENDER_LIMITS, ...limits },
    templates,
  );
}

export function completeTemplate({ template, partials, textInputs }: RenderedDefinition): Template {
  return { template, partials, declaredInputs: textInputs.map(({ key }) => key) };
}

/** Returns the `@` variables: `@metadata.prompt` is the front matter. */
export function toPromptVariables({ frontMatter }: Pick<PromptDefinition, 'frontMatter'>): {
  metadata: { prompt: PromptDefinition['frontMatter'] };
} {
  return { metadata: { prompt: frontMatter } };
}

async function toEngineMessage(
  { role, content }: TemplateMessage,
  images: readonly LoadedImage[],
): Promise<Message> {
  const parts = content.map(async (part): Promise<MessagePart | undefined> => {
    if ('text' in part) return part;
    // Sections stay unfilled here.
    if ('metadata' in part) return undefined;
    const { url, imageIndex } = part.media;
    const image = imageIndex === undefined ? await decodeImageUrl(url) : images[imageIndex];
    if (!image) throw new Error('the template uses a picture that is missing');
    return { image };
  });
  return { role, parts: (await Promise.all(parts)).filter(part => part !== undefined) };
}

/** Joins messages with an empty line and drops the blanks around their markers. */
function joinMessages([first = '', ...rest]: readonly string[]): string {
  return rest.reduce((text, next) => `${text.trimEnd()}\n\n${next.trimStart()}`, first);
}

/** Matches the beginning of a URL such as `data:image/png;base64,iVBOR…`. */
const DATA_URL = /^data:[^,;]*(?:;[^,;]*)*;base64,/i;

async function decodeImageUrl(url: string): Promise<LoadedImage> {
  const [head] = DATA_URL.exec(url.slice(0, 1000)) ?? [];
  if (head === undefined) {
    const allowedSources =
      'a run takes pictures from inputs of their own, as in {{media url=field}}, and `data:` URLs';
    throw new Error(`the template places the picture ${url.slice(0, 100)}: ${allowedSources}`);
  }

  const bytes = decodeBase64(url.slice(head.length));
  const mediaType = await detectImageType(bytes);
  if (mediaType === undefined) {
    throw new Error('the template places a `data:` URL that is not a picture');
  }

  return { bytes, mediaType };
}
