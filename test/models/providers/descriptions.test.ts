import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { CHAT } from '../../../src/models/providers/answers/formats/chat.ts';
import { CONVERSE } from '../../../src/models/providers/answers/formats/converse.ts';
import { GEMINI } from '../../../src/models/providers/answers/formats/gemini.ts';
import { MESSAGES } from '../../../src/models/providers/answers/formats/messages.ts';
import { RESPONSES } from '../../../src/models/providers/answers/formats/responses.ts';
import {
  type AnswerFormat,
  ModelAnswer,
} from '../../../src/models/providers/answers/model-answer.ts';
import { findDescribedSchema, type OpenApi } from '../../support/providers/described-schema.ts';
import azure from './sent/azure.ts';
import responsesBatch from './sent/batch-openai.ts';
import chatBatch from './sent/batch-openai-chat.ts';
import openai from './sent/openai.ts';
import openaiChat from './sent/openai-chat.ts';
import openaiImages from './sent/openai-images.ts';

// Requests and counts, checked against two files that others maintain. `described/` holds what is
// needed of them; its README says where they are from and how to renew them.

function loadJson(fileName: string): unknown {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'described', fileName), 'utf8'));
}

interface NamedBody {
  readonly name: string;
  readonly body: object;
}

type SentRequests = Readonly<Record<string, { readonly url: string; readonly body: object }>>;

/** Returns the bodies of JSON; edits of images are sent as forms. */
const listJsonBodies = (sentRequests: SentRequests): NamedBody[] =>
  Object.entries(sentRequests)
    .filter(([, { url }]) => !url.endsWith('/images/edits'))
    .map(([name, { body }]) => ({ name, body }));

interface BatchFile {
  readonly lines: readonly { custom_id: string; body: object }[];
}

const listLineBodies = ({ lines }: BatchFile): NamedBody[] =>
  lines.map(({ custom_id, body }) => ({ name: custom_id, body }));

describe("OpenAI's description of its interface", () => {
  const description = loadJson('openai.json') as OpenApi;

  describe.each([
    { what: 'Responses', endpoint: '/responses', requests: listJsonBodies(openai) },
    { what: 'Responses at Azure', endpoint: '/responses', requests: listJsonBodies(azure) },
    {
      what: 'Responses in a batch',
      endpoint: '/responses',
      requests: listLineBodies(responsesBatch.file),
    },
    {
      what: 'Chat Completions',
      endpoint: '/chat/completions',
      requests: listJsonBodies(openaiChat),
    },
    {
      what: 'Chat Completions in a batch',
      endpoint: '/chat/completions',
      requests: listLineBodies(chatBatch.file),
    },
    {
      what: 'a batch',
      endpoint: '/batches',
      requests: [{ name: 'batch', body: chatBatch.batch.body }],
    },
    { what: 'images', endpoint: '/images/generations', requests: listJsonBodies(openaiImages) },
  ])('for $what', ({ endpoint, requests }) => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
    const isDescribed = ajv.compile(findDescribedSchema(description, endpoint));

    it('allows every request that we send', () => {
      const refusedRequests = requests.filter(({ body }) => !isDescribed(body));
      expect(requests).not.toEqual([]);
      expect(refusedRequests.map(({ name }) => name)).toEqual([]);
    });

    it('allows none of them with a field that it does not describe', () => {
      const allowedRequests = requests.filter(({ body }) => isDescribed({ ...body, made_up: 1 }));
      expect(allowedRequests.map(({ name }) => name)).toEqual([]);
    });
  });
});

interface CollectedUsage {
  /** An answer of the provider. */
  readonly body: object;
  /** Input, output, read from the cache, written to it. */
  readonly tokens: readonly number[];
}

/** The file holds more of each interface; fewer would mean that some were lost. */
const MIN_USAGE_COUNT = 11;

const FORMATS: Readonly<Record<string, AnswerFormat>> = {
  Messages: MESSAGES,
  Converse: CONVERSE,
  generateContent: GEMINI,
  Responses: RESPONSES,
  'Chat Completions': CHAT,
};

/** Returns what we count in an answer, in the order of `CollectedUsage`. */
function countTokens(format: AnswerFormat, body: object): number[] {
  const answer = new ModelAnswer(format);
  answer.add(body);
  const { input, output, cached, cacheWritten } = answer.usage ?? {};
  return [input, output, cached, cacheWritten].map(count => count ?? 0);
}

describe('usages that others collected', () => {
  const collected = loadJson('usages.json') as Readonly<Record<string, readonly CollectedUsage[]>>;

  it('are of every interface', () => {
    expect(Object.keys(collected)).toEqual(Object.keys(FORMATS));
  });

  it.each(Object.entries(FORMATS))('are counted alike by us: %s', (name, format) => {
    const usages = collected[name] ?? [];
    expect(usages.length).toBeGreaterThanOrEqual(MIN_USAGE_COUNT);
    expect(usages.map(({ body }) => ({ body, tokens: countTokens(format, body) }))).toEqual(usages);
  });
});
