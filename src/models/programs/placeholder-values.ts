import type { JsonValue } from '../../files/formats/json.ts';
import type { LoadedImage } from '../../prompts/render/loaded-image.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Env } from '../../utils/env.ts';
import { type DeclaredModel, type ProgramPlaceholder, usesPlaceholder } from '../declared-model.ts';
import { type EngineJob, jsonWords, messageText, saysJson } from '../engine.ts';

export type RunValues = ReturnType<typeof placeholderValues>;

/** Returns the values of a run's placeholders. @param images the values of `${images}` */
export function placeholderValues(
  job: EngineJob,
  declaredModel: DeclaredModel,
  { env, images }: { env: Env; images: string[] },
) {
  const { model, inputs } = job;
  const chat =
    declaredModel.kind === 'address' && declaredModel.sendsChats === true
      ? promptfooMessages(job)
      : undefined;
  const prompt = chat === undefined ? promptText(job, declaredModel) : JSON.stringify(chat, undefined, 2);
  const plainValue = (placeholder: ProgramPlaceholder): JsonValue => {
    if (placeholder.name === 'env') return env[placeholder.key]?.trim() ?? '';
    if (placeholder.name === 'input') return ownEntry(inputs.texts, placeholder.key) ?? '';
    const { name } = placeholder;
    const values = { prompt, images, here: declaredModel.here, model: model.model };
    if (name === 'system') return systemText(job);
    return name === 'messages' ? messageValues(job) : values[name];
  };
  return {
    prompt,
    images,
    /** Values within a text: inputs unchanged. */
    inText: plainValue,
    /** Values on their own in JSON: inputs with their types in the prompt's schema. */
    inJson: (placeholder: ProgramPlaceholder): JsonValue => {
      if (placeholder.name === 'prompt' && chat) return chat;
      return placeholder.name === 'input'
        ? (ownEntry(inputs.values, placeholder.key) ?? '')
        : plainValue(placeholder);
    },
  };
}

/** Returns the messages of a prompt as promptfoo has them; undefined for one text of the user. */
function promptfooMessages({ prompt: { messages } }: EngineJob): JsonValue | undefined {
  const [first, ...others] = messages;
  if (first?.role === 'user' && others.length === 0) return undefined;
  return messages.map(({ role, parts }) => ({
    role: role === 'model' ? 'assistant' : role,
    content: messageText(parts),
  }));
}

/** Joins texts with an empty line between them. */
function joinTexts([first = '', ...rest]: readonly string[]): string {
  return rest.reduce((text, next) => `${text.trimEnd()}\n\n${next.trimStart()}`, first);
}

function ownEntry<T>(values: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

function promptText(job: EngineJob, declared: DeclaredModel): string {
  const { messages } = job.prompt;
  const shown = usesPlaceholder(declared, 'system')
    ? messages.filter(({ role }) => role !== 'system')
    : messages;
  const text = joinTexts(shown.map(({ parts }) => messageText(parts)));
  const words = jsonInstruction(job);
  if (words === undefined) return text;
  return text === '' ? words : `${text.trimEnd()}\n\n${words}`;
}

function jsonInstruction(job: EngineJob): string | undefined {
  if (job.json === undefined) return undefined;
  const { schema } = job.json;
  if (isJsonObject(schema)) return jsonWords(schema);
  return saysJson(job) ? undefined : jsonWords();
}

function systemText({ prompt }: EngineJob): string {
  return joinTexts(
    prompt.messages.filter(({ role }) => role === 'system').map(({ parts }) => messageText(parts)),
  );
}

/** Returns the messages in the prompt format. */
export function messageValues({ prompt }: EngineJob): JsonValue {
  return prompt.messages.map(({ role, parts }) => ({
    role,
    content: parts.map(part =>
      'text' in part
        ? { text: part.text }
        : { media: { url: imageDataUrl(part.image), contentType: part.image.mediaType } },
    ),
  }));
}

/** Returns the pictures of a prompt, in order. */
export function promptImages({ prompt }: Pick<EngineJob, 'prompt'>): LoadedImage[] {
  return prompt.messages.flatMap(({ parts }) => parts.flatMap(part => ('image' in part ? [part.image] : [])));
}

export function imageDataUrl({ bytes, mediaType }: LoadedImage): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}
