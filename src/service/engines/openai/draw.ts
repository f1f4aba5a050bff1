import type OpenAI from 'openai';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { RenderedPrompt } from '../../prompts/render.ts';
import { type EngineJob, type EngineResult, roughTokens } from '../engine.ts';
import type { Access } from '../provider/access.ts';
import { answerObjects } from '../provider/answer-body.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { type GivenPicture, picturesOf } from '../provider/pictures.ts';
import { ProviderFault } from '../provider/refusal.ts';
import { streamReader } from './chat.ts';
import { tokensIn, usageIn } from './chat-answer.ts';
import { requestParameters } from './options.ts';

/**
 * Asks an image model, once: for a new picture, or for a changed one if the prompt holds pictures.
 *
 * @throws {ProviderFault} for an answer without a picture
 */
export async function draw(client: OpenAI, job: EngineJob, access: Access): Promise<EngineResult> {
  const response = await retryWhileBusy(job, () => request(client, job));
  let counted: unknown;
  const given: GivenPicture[] = [];
  for await (const object of answerObjects(response, await streamReader(client), () => true)) {
    counted = object['usage'] ?? counted;
    given.push(...picturesIn(object));
  }
  if (given.length === 0) {
    throw new ProviderFault('answered without a picture', { advice: 'is it an image model?' });
  }
  const outputs = await picturesOf(given, job, access);
  return {
    outputs,
    tokens: tokensIn(counted) ?? roughTokens(job.prompt.text),
    usage: usageIn(counted),
    failed: outputs.every(({ type }) => type === 'error'),
  };
}

async function request(client: OpenAI, { model, prompt, runOptions, signal }: EngineJob): Promise<Response> {
  const image = await filesOf(prompt);
  // What the request is about can't be replaced by an option of the same name.
  const parameters = {
    ...requestParameters(runOptions, model),
    model: model.id ?? model.model,
    prompt: textOf(prompt),
    stream: false,
  };
  if (image.length > 0) {
    const changed = { ...parameters, image } as OpenAI.ImageEditParamsNonStreaming;
    return await client.images.edit(changed, { signal }).asResponse();
  }
  const drawn = parameters as unknown as OpenAI.ImageGenerateParamsNonStreaming;
  return await client.images.generate(drawn, { signal }).asResponse();
}

function picturesIn({ data }: Record<string, unknown>): GivenPicture[] {
  if (!Array.isArray(data)) return [];
  return data.filter(isJsonObject).map(({ b64_json: base64, url }) => ({
    base64: typeof base64 === 'string' && base64 !== '' ? base64 : undefined,
    url: typeof url === 'string' ? url : undefined,
  }));
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
