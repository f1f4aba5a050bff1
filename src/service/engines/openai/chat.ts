import type OpenAI from 'openai';
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Message, MessagePart } from '../../prompts/rendered.ts';
import { type EngineJob, type EngineResult, failedWith } from '../engine.ts';
import { requestParameters } from './options.ts';
import { countedTokens } from './tokens.ts';

/** Asks a chat model. */
export async function chat(
  client: OpenAI,
  { model, prompt, runOptions, signal }: EngineJob,
): Promise<EngineResult> {
  const answer = await client.chat.completions.create(
    {
      model: model.id ?? model.model,
      messages: prompt.messages.map(chatMessage),
      ...requestParameters(runOptions, model),
      stream: false,
    },
    { signal },
  );
  const message = answer.choices?.[0]?.message;
  const text = answerText(message?.content);
  if (message?.refusal) return failedWith(`the model refused: ${message.refusal}`);
  if (text === '') return failedWith('the model answered without a text');
  const tokens = countedTokens(answer.usage, prompt.text + text);
  return { outputs: [{ type: 'text', text }], tokens, failed: false };
}

/** Some servers answer in parts, thoughts among them. */
function answerText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { type?: unknown; text?: unknown }[])
    .map(part => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('');
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
