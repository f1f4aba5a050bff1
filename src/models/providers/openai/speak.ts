import type OpenAI from 'openai';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { type EngineJob, textOf } from '../../engine.ts';
import { type Access, clientOptions } from '../access.ts';
import { answerObjects } from '../answer-body.ts';
import type { Interface } from '../engine.ts';
import { retryWhileBusy } from '../fault.ts';
import { ChatAnswer, DrawnAnswer, endsChat } from './answers.ts';
import { chatParameters, requestParameters } from './parameters.ts';

/** OpenAI's interface: models that chat, and models that draw. */
export const OPENAI: Interface = {
  async *ask(job, access) {
    const client = await connect(access);
    const { Stream } = await import('openai/streaming');
    const { signal } = job;
    const draws = job.model.modality === 'image';
    const request = (): Promise<Response> =>
      draws
        ? draw(client, job)
        : client.chat.completions.create(chatParameters(job), { signal }).asResponse();
    const response = await retryWhileBusy(job, request);
    const events = (body: Response): AsyncIterable<unknown> =>
      Stream.fromSSEResponse(body, new AbortController(), client);
    yield* answerObjects(response, events, draws ? () => true : endsChat);
  },
  newAnswer: ({ model }) => (model.modality === 'image' ? new DrawnAnswer() : new ChatAnswer()),
};

/** A client of OpenAI's interface. Everything is passed to it, so that it looks for nothing in the environment by itself. */
export async function connect(access: Access, answerBytes?: number): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  class Client extends OpenAI {
    /** Not every server puts what went wrong into `error`. */
    protected override makeStatusError(...[status, body, message, headers]: StatusError) {
      const error = isJsonObject(body) && !('error' in body) ? { error: body } : body;
      return super.makeStatusError(status, error, message, headers);
    }
  }
  return new Client({
    ...clientOptions(access, answerBytes),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
  });
}

type StatusError = Parameters<OpenAI['makeStatusError']>;

/** Asks for a new picture, or for a changed one if the prompt holds pictures. */
async function draw(client: OpenAI, { model, prompt, runOptions, signal }: EngineJob): Promise<Response> {
  const texts = prompt.messages.map(({ parts }) => textOf(parts)).filter(text => text !== '');
  // What the request is about can't be replaced by an option of the same name.
  const parameters = {
    ...requestParameters(runOptions, model),
    model: model.id ?? model.model,
    prompt: texts.join('\n\n'),
    stream: false,
  };
  const image = await imageFiles(prompt);
  if (image.length > 0) {
    const changed = { ...parameters, image } as OpenAI.ImageEditParamsNonStreaming;
    return await client.images.edit(changed, { signal }).asResponse();
  }
  const drawn = parameters as unknown as OpenAI.ImageGenerateParamsNonStreaming;
  return await client.images.generate(drawn, { signal }).asResponse();
}

async function imageFiles({ messages }: EngineJob['prompt']): Promise<File[]> {
  const { toFile } = await import('openai');
  const images = messages.flatMap(({ parts }) => parts.flatMap(part => ('image' in part ? part.image : [])));
  return await Promise.all(
    images.map(({ bytes, mediaType }, index) =>
      toFile(bytes, `image-${index + 1}.${mediaType.replace('image/', '')}`, { type: mediaType }),
    ),
  );
}
