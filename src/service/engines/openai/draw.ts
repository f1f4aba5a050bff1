import type OpenAI from 'openai';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { RenderedPrompt } from '../../prompts/render.ts';
import type { EngineJob } from '../engine.ts';
import type { GivenPicture } from '../provider/pictures.ts';
import { ProviderFault } from '../provider/refusal.ts';
import { CountedAnswer } from './chat-answer.ts';
import { requestParameters } from './options.ts';

/** The pictures of an image model. */
export class DrawnAnswer extends CountedAnswer {
  add(object: Record<string, unknown>): string {
    this.count(object);
    this.pictures.push(...picturesIn(object));
    return '';
  }

  protected fault(): ProviderFault | undefined {
    if (this.pictures.length > 0) return undefined;
    return new ProviderFault('answered without a picture', { advice: 'is it an image model?' });
  }
}

/** Asks for a new picture, or for a changed one if the prompt holds pictures. */
export async function draw(
  client: OpenAI,
  { model, prompt, runOptions, signal }: EngineJob,
): Promise<Response> {
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
