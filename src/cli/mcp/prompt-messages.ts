import type { GetPromptResult, Prompt, PromptMessage } from '@modelcontextprotocol/server';
import type { TemplateMessage, TemplatePart } from '../../prompts/template/template-messages.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { describeConfig } from '../inputs/describe-config.ts';
import type { TextField } from '../inputs/input-fields.ts';
import { findVersionDefinition } from '../targets/prompt-definition.ts';
import type { OfferedPrompt } from './directory-prompts.ts';
import type { SessionPrompts } from './session-prompts.ts';

/** Returns a prompt as the protocol lists it, with images as arguments after its texts. */
export function toProtocolPrompt({ name, title, description, config }: OfferedPrompt): Prompt {
  const { text, images } = describeConfig(config);
  const ofImages = images.map(({ description: what }, index) => ({
    name: getImageArgumentName(index, images.length),
    description: `the URL of an image${what === undefined ? '' : `: ${what}`}`,
    required: true,
  }));

  const ofTexts = text.map(field => ({
    name: field.key,
    required: field.required,
    ...(describeTextField(field) !== '' && { description: describeTextField(field) }),
  }));
  return {
    name,
    title,
    ...(description !== '' && { description }),
    arguments: [...ofTexts, ...ofImages],
  };
}

/** Returns the description of a field, with its choices and its default. */
function describeTextField(field: TextField): string {
  return [
    ...(field.description === undefined ? [] : [field.description]),
    ...(field.choices === undefined ? [] : [`one of: ${field.choices.join(', ')}`]),
    ...(field.default === undefined ? [] : [`default: ${field.default}`]),
  ].join('; ');
}

export function getImageArgumentName(at: number, count: number): string {
  return count === 1 ? 'image' : `image${at + 1}`;
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

  if (!connection.embedded) {
    throw usageError(
      `${name} can only be rendered by its service`,
      'Run it with the tool run_prompt.',
    );
  }

  const { images } = describeConfig(config);
  const names = images.map((_, index) => getImageArgumentName(index, images.length));
  const texts = Object.fromEntries(Object.entries(args).filter(([key]) => !names.includes(key)));
  const urls = names.flatMap(image => args[image] ?? []);
  const { previewFromTexts } = await import('../../prompts/render/preview-prompt.ts');
  const definition = await findVersionDefinition(ctx, promptVersionId);
  const preview = definition && (await previewFromTexts(definition, { texts, images: urls }));

  return { description: title, messages: (preview?.messages ?? []).flatMap(toProtocolMessages) };
}

/** Converts a message: the protocol has only users and assistants, and one part per message. */
function toProtocolMessages({ role, content }: TemplateMessage): PromptMessage[] {
  return content.flatMap(part => {
    const shown = toProtocolContent(part);
    return shown === undefined
      ? []
      : [{ role: role === 'model' ? 'assistant' : 'user', content: shown }];
  });
}

function toProtocolContent(part: TemplatePart): PromptMessage['content'] | undefined {
  if ('text' in part) return { type: 'text', text: part.text };
  if (!('media' in part)) return undefined;
  const { url } = part.media;
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.*)$/su.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return { type: 'text', text: url };
  return { type: 'image', mimeType, data };
}
