import type OpenAI from 'openai';
import type { Image, ImagesResponse } from 'openai/resources/images';
import { fetchImage } from '../../images/fetch-image.ts';
import { imageType } from '../../images/loaded-image.ts';
import type { Provider } from '../../models/entry.ts';
import type { RenderedPrompt } from '../../prompts/rendered.ts';
import { messageOf } from '../../thrown.ts';
import { type EngineJob, type EngineOutput, type EngineResult, failedWith } from '../engine.ts';
import { requestParameters } from './options.ts';
import { countedTokens } from './tokens.ts';

/** Asks an image model: for a new picture, or for a changed one where the prompt holds pictures. */
export async function draw(client: OpenAI, job: EngineJob): Promise<EngineResult> {
  const answer = await request(client, job);
  const images = answer.data ?? [];
  if (images.length === 0) return failedWith('the model answered without a picture');
  const outputs = await Promise.all(images.map(image => outputOf(image, job)));
  const tokens = countedTokens(answer.usage, job.prompt.text);
  return { outputs, tokens, failed: outputs.every(({ type }) => type === 'error') };
}

async function request(
  client: OpenAI,
  { model, prompt, runOptions, signal }: EngineJob,
): Promise<ImagesResponse> {
  const parameters = {
    model: model.id ?? model.model,
    prompt: textOf(prompt),
    ...requestParameters(runOptions, model),
    // Last, for its type: options are texts, the client's own type lists what each may be.
    ...({ stream: false } as const),
  };
  const image = await filesOf(prompt);
  if (image.length > 0) {
    return await client.images.edit({ ...parameters, image } as OpenAI.ImageEditParamsNonStreaming, {
      signal,
    });
  }
  return await client.images.generate(parameters as OpenAI.ImageGenerateParamsNonStreaming, { signal });
}

function textOf({ messages }: RenderedPrompt): string {
  const texts = messages.map(({ parts }) => parts.map(part => ('text' in part ? part.text : '')).join(''));
  return texts.filter(text => text !== '').join('\n\n');
}

async function filesOf({ messages }: RenderedPrompt): Promise<File[]> {
  const { toFile } = await import('openai');
  const images = messages.flatMap(({ parts }) =>
    parts.flatMap(part => ('image' in part ? [part.image] : [])),
  );
  return await Promise.all(
    images.map(({ bytes, mediaType }, index) =>
      toFile(bytes, `image-${index + 1}.${mediaType.replace('image/', '')}`, { type: mediaType }),
    ),
  );
}

async function outputOf(image: Image, job: EngineJob): Promise<EngineOutput> {
  try {
    const bytes = await bytesOf(image, job);
    const mediaType = await imageType(bytes);
    if (mediaType !== undefined) return { type: 'image', bytes, mediaType };
    return { type: 'error', message: 'the model answered with something that is no picture' };
  } catch (error) {
    job.signal.throwIfAborted();
    const reason = messageOf(error);
    return { type: 'error', message: `the picture the model made could not be fetched: ${reason}` };
  }
}

async function bytesOf({ b64_json: base64, url }: Image, { model, signal }: EngineJob): Promise<Buffer> {
  if (base64) return Buffer.from(base64, 'base64');
  if (url && isOwn(url, model.provider)) return await fetchOwn(url, signal);
  return await fetchImage(url ?? '', { signal });
}

/** A server on this machine gives URLs of itself, which no guard for public pictures would let through. */
function isOwn(url: string, provider: Provider | undefined): boolean {
  return (
    provider?.baseUrl !== undefined &&
    URL.canParse(url) &&
    new URL(url).origin === new URL(provider.baseUrl).origin
  );
}

async function fetchOwn(url: string, signal: AbortSignal): Promise<Buffer> {
  const answer = await fetch(url, { signal, redirect: 'error' });
  if (!answer.ok) throw new Error(`its URL answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
