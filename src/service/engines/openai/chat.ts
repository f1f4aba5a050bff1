import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Message, MessagePart } from '../../prompts/render.ts';
import { isStrict } from '../../prompts/schemas/strict.ts';
import type { EngineJob } from '../engine.ts';
import { requestParameters } from './options.ts';

/** What a request for a chat holds. */
export function chatParameters({
  model,
  prompt,
  runOptions,
  json,
  onText,
}: EngineJob): ChatCompletionCreateParams {
  const fixed = {
    model: model.id ?? model.model,
    messages: prompt.messages.map(chatMessage),
    ...responseFormat(model.responseFormat ?? 'json_schema', json),
    ...(onText ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
  };
  // What the request is about can't be replaced by an option of the same name.
  return { ...requestParameters(runOptions, model), ...fixed } as ChatCompletionCreateParams;
}

function responseFormat(
  form: 'json_schema' | 'json_object' | 'none',
  json: EngineJob['json'],
): { response_format?: object } {
  if (json === undefined || form === 'none') return {};
  if (json.schema === undefined || form === 'json_object') {
    return { response_format: { type: 'json_object' } };
  }
  const strict = isStrict(json.schema) ? { strict: true } : {};
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'output', schema: json.schema, ...strict } },
  };
}

function chatMessage({ role, parts }: Message): ChatCompletionMessageParam {
  if (role === 'user') return { role, content: userContent(parts) };
  return { role: role === 'model' ? 'assistant' : role, content: textOf(parts) };
}

/** A message of text alone is sent as a text: not every server takes parts. */
function userContent(parts: readonly MessagePart[]): string | ChatCompletionContentPart[] {
  return parts.every(part => 'text' in part) ? textOf(parts) : parts.map(contentPart);
}

function contentPart(part: MessagePart): ChatCompletionContentPart {
  if ('text' in part) return { type: 'text', text: part.text };
  const { bytes, mediaType } = part.image;
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${bytes.toString('base64')}` } };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map(part => ('text' in part ? part.text : '')).join('');
}
