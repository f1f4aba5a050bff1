import { describeImage } from '../images/describe.ts';
import { decodeBase64, imageType, type LoadedImage } from '../images/loaded-image.ts';
import type { PromptDefinition } from './definition.ts';
import type { Limits } from './template/budget.ts';
import type { Part, Message as TemplateMessage } from './template/messages.ts';
import type { Role } from './template/node.ts';
import { renderTemplate } from './template/render.ts';
import { Picture } from './template/values.ts';
import { readTextInputs } from './typed-inputs.ts';

interface RenderInputs {
  /** Keys the prompt does not know are ignored; missing ones take their default. */
  readonly textInputs: Readonly<Record<string, string>>;
  /** In the order of the prompt's `imageInputs`. */
  readonly images: readonly LoadedImage[];
}

/**
 * Puts the inputs of a run into its prompt, for the engine.
 *
 * @throws {InvalidInputs} for texts that do not fit the prompt's schema
 * @throws {PastBound} where the prompt takes too much, with the bound in the message
 * @throws {Error} for a picture that is neither an input of its own nor a `data:` URL of one
 */
export async function renderPrompt(
  definition: PromptDefinition,
  { textInputs, images }: RenderInputs,
  limits?: Limits,
): Promise<RenderedPrompt> {
  const values = await readTextInputs(definition, textInputs);
  const pictures = definition.imageInputs.flatMap(({ key }, index): [string, Picture][] => {
    const image = images[index];
    return image ? [[key, new Picture(image)]] : [];
  });
  const inputs = { ...values, ...Object.fromEntries(pictures) };
  const messages = renderTemplate(definition, { inputs, variables: promptVariables(definition) }, limits);
  const rendered = await Promise.all(messages.map(forEngine));
  const written = rendered.filter(({ parts }) => parts.length > 0);
  return { messages: written, text: oneText(written.map(({ parts }) => parts.map(asText).join(''))) };
}

/** Messages with an empty line between them, whatever layout stood around their markers. */
function oneText([first = '', ...rest]: readonly string[]): string {
  return rest.reduce((text, next) => `${text.trimEnd()}\n\n${next.trimStart()}`, first);
}

/** `@metadata.prompt` is the front matter. */
export function promptVariables({ frontMatter }: PromptDefinition): {
  metadata: { prompt: PromptDefinition['frontMatter'] };
} {
  return { metadata: { prompt: frontMatter } };
}

async function forEngine({ role, content }: TemplateMessage): Promise<Message> {
  const parts = await Promise.all(content.map(partForEngine));
  return { role, parts: parts.filter(part => part !== undefined) };
}

async function partForEngine(part: Part): Promise<MessagePart | undefined> {
  if ('text' in part) return part;
  // A section is a place that nothing fills here.
  if ('metadata' in part) return undefined;
  const { url } = part.media;
  return { image: url instanceof Picture ? url.image : await imageOfDataUrl(url) };
}

const DATA_URL = /^data:[^,;]*(?:;[^,;]*)*;base64,/i;

async function imageOfDataUrl(url: string): Promise<LoadedImage> {
  const [head] = DATA_URL.exec(url.slice(0, 1000)) ?? [];
  if (head === undefined) {
    const what = 'a run takes pictures from inputs of their own, as in {{media url=field}}, and `data:` URLs';
    throw new Error(`the template places the picture ${url.slice(0, 100)}: ${what}`);
  }
  const bytes = decodeBase64(url.slice(head.length));
  const mediaType = await imageType(bytes);
  if (mediaType === undefined) throw new Error('the template places a `data:` URL that is not a picture');
  return { bytes, mediaType };
}

function asText(part: MessagePart): string {
  return 'text' in part ? part.text : describeImage(part.image);
}

export type MessagePart = { readonly text: string } | { readonly image: LoadedImage };

export interface Message {
  readonly role: Role;
  readonly parts: readonly MessagePart[];
}

/** A prompt with its inputs in place, for an engine. */
export interface RenderedPrompt {
  readonly messages: readonly Message[];
  /** The messages as one text, pictures described. */
  readonly text: string;
}
