import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Message } from '../../../prompts/render/render-prompt.ts';
import { type EngineJob, textOf } from '../../engine.ts';
import { type ModelEntry, NUMBER_SETTINGS } from '../../entry.ts';
import { isStrict } from '../strict-schema.ts';

type Parameters = Record<string, unknown>;

/** The nearest size image models are known to draw. */
const SIZES: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1536x1024',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
  '2:3': '1024x1536',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
};

/**
 * Settings as the parameters of a request: typed values stay what they are, texts become numbers where the provider
 * takes a number. One that has no name of its own there goes by its own, in snake case.
 */
export function requestParameters(
  settings: Readonly<Record<string, unknown>>,
  { modality, provider }: ModelEntry,
): Parameters {
  const official = provider !== undefined && new URL(provider.baseUrl).hostname === 'api.openai.com';
  const parameters: Parameters = {};
  for (const [key, value] of Object.entries(settings)) {
    if (value === null || value === undefined) continue;
    parameters[parameterName(key, official)] = parameterValue(key, value);
  }
  return modality === 'image' ? withSize(parameters) : parameters;
}

function parameterName(key: string, official: boolean): string {
  // Other servers mostly know the older name, and the official one no longer takes it.
  if (key === 'maxOutputTokens') return official ? 'max_completion_tokens' : 'max_tokens';
  if (key === 'stopSequences') return 'stop';
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

function parameterValue(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !NUMBER_SETTINGS.has(key) || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function withSize({ aspect_ratio: ratio, ...rest }: Parameters): Parameters {
  const size = typeof ratio === 'string' ? SIZES[ratio] : undefined;
  if (size === undefined) return ratio === undefined ? rest : { ...rest, aspect_ratio: ratio };
  return { size, ...rest };
}

/** What a request for a chat holds. */
export function chatParameters({ model, prompt, runOptions, json, onText }: EngineJob) {
  // What the request is about can't be replaced by an option of the same name.
  return {
    ...requestParameters(runOptions, model),
    model: model.id ?? model.model,
    messages: prompt.messages.map(chatMessage),
    ...responseFormat(model, json),
    ...(onText ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
  } as ChatCompletionCreateParams;
}

function responseFormat(
  { responseFormat: form = 'json_schema' }: ModelEntry,
  json: EngineJob['json'],
): { response_format?: object } {
  if (json === undefined || form === 'none') return {};
  const { schema } = json;
  if (schema === undefined || form === 'json_object') return { response_format: { type: 'json_object' } };
  const described = { name: 'output', schema, ...(isStrict(schema) && { strict: true }) };
  return { response_format: { type: 'json_schema', json_schema: described } };
}

/** A message of text alone is sent as a text: not every server takes parts. */
function chatMessage({ role, parts }: Message): ChatCompletionMessageParam {
  if (role === 'model') return { role: 'assistant', content: textOf(parts) };
  if (role !== 'user' || parts.every(part => 'text' in part)) return { role, content: textOf(parts) };
  const content = parts.map((part): ChatCompletionContentPart => {
    if ('text' in part) return { type: 'text', text: part.text };
    const { bytes, mediaType } = part.image;
    return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${bytes.toString('base64')}` } };
  });
  return { role, content };
}
