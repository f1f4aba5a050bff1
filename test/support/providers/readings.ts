import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from '@ai-sdk/provider';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import type { InterfaceName } from '../../../src/models/model-entry.ts';
import { readAnswer } from '../../../src/models/providers/answers/answer-body.ts';
import { ModelAnswer } from '../../../src/models/providers/answers/model-answer.ts';
import { PROVIDER_INTERFACES } from '../../../src/models/providers/requests/provider-interfaces.ts';

/** An answer as a provider sends it: one body, or the events of a stream. */
export type SentAnswer =
  | { readonly body: object }
  | { readonly events: readonly (object | '[DONE]')[] };

/** A model of an interface. */
export interface SpokenTo {
  readonly engine: InterfaceName | 'openai-chat';
  readonly id: string;
}

/** An answer as a reader understands it. */
export interface Reading {
  readonly text: string;
  /** The way it ended: `whole` if the model had said all. */
  readonly end: 'whole' | 'length' | 'filter' | 'error' | 'tool' | 'broken';
  /** Tokens in, out, read from the cache and written to it. */
  readonly tokens: readonly [number, number, number, number] | undefined;
  /** The pictures, in base64. */
  readonly pictures: readonly string[];
}

const CODEC = new EventStreamCodec(toUtf8, fromUtf8);

function isAmazons({ engine, id }: SpokenTo): boolean {
  return engine === 'bedrock' && !/anthropic\./.test(id);
}

/** Returns the bytes of an answer, and their type. */
function encodeAnswer(
  asked: SpokenTo,
  answer: SentAnswer,
): { type: string; bytes: Uint8Array<ArrayBuffer> } {
  if ('body' in answer) {
    return { type: 'application/json', bytes: utf8(JSON.stringify(answer.body)) };
  }

  if (isAmazons(asked)) {
    const frames = answer.events
      .flatMap(event => Object.entries(event))
      .map(([name, value]) => frame(name, value as object));
    return {
      type: 'application/vnd.amazon.eventstream',
      bytes: new Uint8Array(Buffer.concat(frames)),
    };
  }

  const lines = answer.events.map(event => {
    if (event === '[DONE]') return 'data: [DONE]\n\n';
    const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return { type: 'text/event-stream', bytes: utf8(lines.join('')) };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}

function frame(type: string, payload: object): Uint8Array {
  const headers = {
    ':event-type': type,
    ':message-type': 'event',
    ':content-type': 'application/json',
  };
  return CODEC.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value } as const]),
    ),
    body: fromUtf8(JSON.stringify(payload)),
  });
}

const CALL: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
};

/** Reads an answer with the package of its interface. */
export async function readByPackage(asked: SpokenTo, answer: SentAnswer): Promise<Reading> {
  const { type, bytes } = encodeAnswer(asked, answer);
  const client = await PROVIDER_INTERFACES[asked.engine].loadLanguageModel(
    {
      baseURL: 'https://provider.example/v1',
      apiKey: 'k',
      headers: {},
      fetch: async () => new Response(bytes, { headers: { 'content-type': type } }),
    },
    { provider: asked.engine, id: asked.id },
  );

  if ('body' in answer) {
    const { content, finishReason, usage } = await client.doGenerate(CALL);
    const pictures = content.flatMap(part => (part.type === 'file' ? [toBase64(part.data)] : []));
    const text = content.map(part => (part.type === 'text' ? part.text : '')).join('');
    return { text, end: ENDS[finishReason.unified], tokens: readTokens(usage), pictures };
  }

  const reading = {
    text: '',
    end: 'broken' as Reading['end'],
    tokens: readTokens(undefined),
    pictures: [] as string[],
  };

  for await (const part of (await client.doStream(CALL)).stream) {
    if (part.type === 'text-delta') reading.text += part.delta;
    if (part.type === 'file') reading.pictures.push(toBase64(part.data));
    if (part.type === 'error') reading.end = 'error';
    if (part.type === 'finish') {
      if (reading.end !== 'error') reading.end = ENDS[part.finishReason.unified];
      reading.tokens = readTokens(part.usage);
    }
  }

  return reading;
}

const ENDS = {
  stop: 'whole',
  length: 'length',
  'content-filter': 'filter',
  'tool-calls': 'tool',
  error: 'error',
  interrupted: 'broken',
  other: 'broken',
} as const;

function toBase64(data: unknown): string {
  if (typeof data === 'object' && data !== null && 'data' in data) return toBase64(data.data);
  return data instanceof Uint8Array ? Buffer.from(data).toString('base64') : String(data);
}

function readTokens(usage: LanguageModelV4Usage | undefined): Reading['tokens'] {
  const { total, cacheRead = 0, cacheWrite = 0 } = usage?.inputTokens ?? { total: undefined };
  const output = usage?.outputTokens.total;
  return total === undefined || output === undefined
    ? undefined
    : [total, output, cacheRead, cacheWrite];
}

/** Reads an answer with the engine. */
export async function readByEngine(asked: SpokenTo, answer: SentAnswer): Promise<Reading> {
  const { type, bytes } = encodeAnswer(asked, answer);
  const read = new ModelAnswer(
    PROVIDER_INTERFACES[asked.engine].chooseAnswerFormat({ provider: asked.engine, id: asked.id }),
  );
  const body = (async function* () {
    yield bytes;
  })();

  let fault = '';
  try {
    await readAnswer(
      { status: 200, headers: { 'content-type': type }, body, discard: () => undefined },
      read,
      () => undefined,
    );
    read.assertUsable();
  } catch (error) {
    fault = String(error);
  }

  const { usage } = read;
  return {
    text: read.text,
    end: readEnd(fault),
    tokens: usage && [usage.input, usage.output, usage.cached, usage.cacheWritten ?? 0],
    pictures: read.images.map(({ base64, url = '' }) => base64 ?? url),
  };
}

function readEnd(fault: string): Reading['end'] {
  if (fault === '') return 'whole';
  if (/asked for the tool/.test(fault)) return 'tool';
  if (/context is full|token limit/.test(fault)) return 'length';
  if (/refused|content filter/.test(fault)) return 'filter';
  return /ended its answer with an error|answered with an error/.test(fault) ? 'error' : 'broken';
}
