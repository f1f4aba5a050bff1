import type OpenAI from 'openai';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Message, MessagePart } from '../../prompts/render.ts';
import { isStrict } from '../../prompts/schemas/strict.ts';
import { type EngineJob, type EngineOutput, type EngineResult, roughTokens } from '../engine.ts';
import type { Access } from '../provider/access.ts';
import { answerObjects, type EventReader, wholeCharacters } from '../provider/answer-body.ts';
import type { PartialAnswer } from '../provider/engine.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { picturesOf } from '../provider/pictures.ts';
import { ChatAnswer, endsChat } from './chat-answer.ts';
import { requestParameters } from './options.ts';

/**
 * Asks a chat model, once. What it says is kept in `answer` if a fault follows.
 *
 * @throws {ProviderFault} for an answer that is not whole
 */
export async function ask(
  client: OpenAI,
  job: EngineJob,
  access: Access,
  answer: PartialAnswer,
): Promise<EngineResult> {
  const { signal } = job;
  const said = new ChatAnswer();
  const response = await retryWhileBusy(job, () =>
    client.chat.completions.create(chatParameters(job), { signal }).asResponse(),
  );
  const show = wholeCharacters(job.onText);
  for await (const object of answerObjects(response, await streamReader(client), endsChat)) {
    show(said.add(object));
    answer.text = said.text;
    answer.usage = said.usage;
  }
  return await resultOf(said, job, access);
}

/** @throws {ProviderFault} for an answer that is not whole */
export async function readChat(
  body: Record<string, unknown>,
  job: EngineJob,
  access: Access,
  answer: PartialAnswer,
): Promise<EngineResult> {
  const said = new ChatAnswer();
  said.add(body);
  answer.text = said.text;
  answer.usage = said.usage;
  return await resultOf(said, job, access);
}

async function resultOf(said: ChatAnswer, job: EngineJob, access: Access): Promise<EngineResult> {
  said.check();
  const pictures = await picturesOf(
    said.pictures.map(url => ({ url })),
    job,
    access,
  );
  const texts: EngineOutput[] = said.text === '' ? [] : [{ type: 'text', text: said.text }];
  return {
    outputs: [...texts, ...pictures],
    tokens: said.tokens ?? roughTokens(job.prompt.text + said.text),
    usage: said.usage,
    failed: said.text === '' && pictures.every(({ type }) => type === 'error'),
  };
}

/** Reads streams as the client itself does. */
export async function streamReader(client: OpenAI): Promise<EventReader> {
  const { Stream } = await import('openai/streaming');
  return response => Stream.fromSSEResponse(response, new AbortController(), client);
}

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
