import type OpenAI from 'openai';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Message, MessagePart } from '../../prompts/render.ts';
import { type EngineJob, type EngineOutput, type EngineResult, roughTokens } from '../engine.ts';
import type { Access } from './access.ts';
import { answerObjects } from './answer-body.ts';
import { type ChatAnswer, tokensIn } from './chat-answer.ts';
import { retryWhileBusy } from './fault.ts';
import { requestParameters } from './options.ts';
import { pictureOutput } from './pictures.ts';

/**
 * Asks a chat model, once. What it says is gathered in `answer`, which keeps it where a fault follows.
 *
 * @throws {ProviderFault} for an answer that is not whole
 */
export async function chat(
  client: OpenAI,
  job: EngineJob,
  access: Access,
  answer: ChatAnswer,
): Promise<EngineResult> {
  const parameters = chatParameters(job);
  const { signal } = job;
  const response = await retryWhileBusy(job, () =>
    client.chat.completions.create(parameters, { signal }).asResponse(),
  );
  const show = wholeCharacters(job.onText);
  for await (const object of answerObjects(response)) show(answer.add(object));
  answer.check();
  const pictures = await Promise.all(answer.pictures.map(url => pictureOutput({ url }, job, access)));
  const texts: EngineOutput[] = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
  return {
    outputs: [...texts, ...pictures],
    tokens: tokensIn(answer.usage) ?? roughTokens(job.prompt.text + answer.text),
    failed: answer.text === '' && pictures.every(({ type }) => type === 'error'),
  };
}

/** Holds back half a character, which servers sometimes send in two pieces. */
function wholeCharacters(onText: EngineJob['onText']): (piece: string) => void {
  let rest = '';
  return piece => {
    const text = rest + piece;
    const isHalf = /[\uD800-\uDBFF]$/.test(text);
    rest = isHalf ? text.slice(-1) : '';
    const whole = isHalf ? text.slice(0, -1) : text;
    if (whole !== '') onText?.(whole);
  };
}

function chatParameters({ model, prompt, runOptions, json, onText }: EngineJob): ChatCompletionCreateParams {
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
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'output', schema: json.schema } },
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
