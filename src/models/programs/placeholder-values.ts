import type { JsonValue } from '../../files/formats/json.ts';
import type { LoadedImage } from '../../prompts/render/loaded-image.ts';
import type { Env } from '../../utils/env.ts';
import { type DeclaredModel, type ProgramPlaceholder, usesPlaceholder } from '../declared-model.ts';
import { buildJsonInstruction, type EngineJob, joinMessageText } from '../engine.ts';
import type { PlaceholderValues } from './placeholders.ts';

/** The values of a run's placeholders. */
export interface RunValues extends PlaceholderValues {
  /** The text for `${prompt}`, or for standard input. */
  readonly prompt: string;
  readonly images: readonly string[];
}

/**
 * Returns the values of a run's placeholders.
 *
 * @param images the values of `${images}`
 */
export function createRunValues(
  job: EngineJob,
  declaration: DeclaredModel,
  { env, images }: { env: Env; images: readonly string[] },
): RunValues {
  const { model, inputs } = job;
  const sendsChatAsJson = declaration.kind === 'address' && declaration.sendsChatAsJson;
  const chatMessages = sendsChatAsJson ? buildPromptfooMessages(job) : undefined;

  const prompt =
    chatMessages === undefined
      ? joinPromptText(job, declaration)
      : JSON.stringify(chatMessages, undefined, 2);

  const getTextValue = (placeholder: ProgramPlaceholder): JsonValue => {
    switch (placeholder.name) {
      case 'prompt':
        return prompt;
      case 'system':
        return joinSystemText(job);
      case 'messages':
        return toMessageValues(job);
      case 'images':
        return [...images];
      case 'here':
        return declaration.sourceFolder;
      case 'model':
        return model.model;
      case 'input':
        return findOwnEntry(inputs.texts, placeholder.key) ?? '';
      case 'env':
      default:
        return env[placeholder.key]?.trim() ?? '';
    }
  };

  const getJsonValue = (placeholder: ProgramPlaceholder): JsonValue => {
    if (placeholder.name === 'prompt') return chatMessages ?? prompt;
    if (placeholder.name === 'input') return findOwnEntry(inputs.values, placeholder.key) ?? '';
    return getTextValue(placeholder);
  };

  return { prompt, images, getTextValue, getJsonValue };
}

function findOwnEntry<T>(values: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Returns the messages of a prompt as promptfoo has them; undefined for one text of the user. */
function buildPromptfooMessages({ prompt: { messages } }: EngineJob): JsonValue | undefined {
  const [first, ...otherMessages] = messages;
  if (first?.role === 'user' && otherMessages.length === 0) return undefined;
  return messages.map(({ role, parts }) => ({
    role: role === 'model' ? 'assistant' : role,
    content: joinMessageText(parts),
  }));
}

function joinPromptText(job: EngineJob, declaration: DeclaredModel): string {
  const { messages } = job.prompt;
  const messagesInPrompt = usesPlaceholder(declaration, 'system')
    ? messages.filter(({ role }) => role !== 'system')
    : messages;
  const text = joinTexts(messagesInPrompt.map(({ parts }) => joinMessageText(parts)));
  const instruction = buildJsonInstruction(job);
  if (instruction === undefined) return text;

  return text === '' ? instruction : `${text.trimEnd()}\n\n${instruction}`;
}

function joinSystemText({ prompt }: EngineJob): string {
  return joinTexts(
    prompt.messages
      .filter(({ role }) => role === 'system')
      .map(({ parts }) => joinMessageText(parts)),
  );
}

/** Joins texts with an empty line between them. */
function joinTexts([first = '', ...rest]: readonly string[]): string {
  return rest.reduce((text, next) => `${text.trimEnd()}\n\n${next.trimStart()}`, first);
}

/** Returns the messages in the prompt format. */
export function toMessageValues({ prompt }: EngineJob): JsonValue {
  return prompt.messages.map(({ role, parts }) => ({
    role,
    content: parts.map(part =>
      'text' in part
        ? { text: part.text }
        : { media: { url: encodeImageDataUrl(part.image), contentType: part.image.mediaType } },
    ),
  }));
}

/** Returns the images of a prompt, in order. */
export function listPromptImages({ prompt }: Pick<EngineJob, 'prompt'>): LoadedImage[] {
  return prompt.messages.flatMap(({ parts }) =>
    parts.flatMap(part => ('image' in part ? [part.image] : [])),
  );
}

export function encodeImageDataUrl({ bytes, mediaType }: LoadedImage): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}
