import type {
  GetPromptResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from '@modelcontextprotocol/server';
import type { TemplateMessage, TemplatePart } from '../../prompts/template/template-messages.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import type { TextField } from '../inputs/input-fields.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { findVersionDefinition } from '../targets/prompt-definition.ts';
import type { OfferedPrompt } from './directory-prompts.ts';
import type { SessionPrompts } from './session-prompts.ts';

/** Matches the `data:` URL of an image, such as `data:image/png;base64,iVBORw0…`. */
const IMAGE_DATA_URL = /^data:(?<mimeType>image\/[\w.+-]+);base64,(?<data>.*)$/su;

/** Returns a prompt as the protocol lists it, with images as arguments after its texts. */
export function toProtocolPrompt({ name, title, description, config }: OfferedPrompt): Prompt {
  const { text, images } = readInputFields(config);
  const imageArguments = images.map((image, index) => ({
    name: getImageArgumentName(index, images.length),
    description: `the URL of an image${image.description === undefined ? '' : `: ${image.description}`}`,
    required: true,
  }));

  return {
    name,
    title,
    ...(description !== '' && { description }),
    arguments: [...text.map(toTextArgument), ...imageArguments],
  };
}

/** Returns the argument of a text field, described with its choices and its default. */
function toTextArgument(field: TextField): PromptArgument {
  const facts: string[] = [];
  if (field.description !== undefined) facts.push(field.description);
  if (field.choices !== undefined) facts.push(`one of: ${field.choices.join(', ')}`);
  if (field.default !== undefined) facts.push(`default: ${field.default}`);

  const argument = { name: field.key, required: field.required };
  return facts.length === 0 ? argument : { ...argument, description: facts.join('; ') };
}

export function getImageArgumentName(index: number, imageCount: number): string {
  return imageCount === 1 ? 'image' : `image${index + 1}`;
}

/**
 * Renders a prompt, which is free.
 *
 * @throws {CliError} USAGE_ERROR for a prompt that the embedded service doesn't have
 */
export async function renderAgentMessages(
  ctx: Context,
  prompts: SessionPrompts,
  name: string,
  args: Readonly<Record<string, string>>,
): Promise<GetPromptResult> {
  const { connection, version } = await prompts.open(name);
  const { promptVersionId, config, title } = version;

  if (!connection.isEmbedded) {
    throw usageError(
      `${name} can only be rendered by its service`,
      'Run it with the tool run_prompt.',
    );
  }

  const { images } = readInputFields(config);
  const imageNames = images.map((_, index) => getImageArgumentName(index, images.length));
  const texts = Object.entries(args).filter(([key]) => !imageNames.includes(key));
  const urls = imageNames.flatMap(image => args[image] ?? []);
  const { previewFromTexts } = await import('../../prompts/render/preview-prompt.ts');
  const definition = await findVersionDefinition(ctx, promptVersionId);

  // A version that was removed after it was opened has no messages.
  const preview =
    definition &&
    (await previewFromTexts(definition, { texts: Object.fromEntries(texts), images: urls }));

  return { description: title, messages: (preview?.messages ?? []).flatMap(toProtocolMessages) };
}

/** Converts a message: the protocol has only users and assistants, and one part per message. */
function toProtocolMessages({ role, content }: TemplateMessage): PromptMessage[] {
  const protocolRole = role === 'model' ? 'assistant' : 'user';
  return content
    .flatMap(part => toProtocolContent(part) ?? [])
    .map(protocolContent => ({ role: protocolRole, content: protocolContent }));
}

function toProtocolContent(part: TemplatePart): PromptMessage['content'] | undefined {
  if ('text' in part) return { type: 'text', text: part.text };
  if (!('media' in part)) return undefined;
  const { url } = part.media;
  const { mimeType, data } = IMAGE_DATA_URL.exec(url)?.groups ?? {};
  if (mimeType === undefined || data === undefined) return { type: 'text', text: url };
  return { type: 'image', mimeType, data };
}
