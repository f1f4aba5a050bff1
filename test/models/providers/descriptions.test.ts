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
import chatBatch from './sent/batch-openai.ts';
import batch from './sent/batch-openai-chat.ts';
import openai from './sent/openai.ts';
import chat from './sent/openai-chat.ts';
import images from './sent/openai-images.ts';

// Requests and counts, checked against two files that others maintain. `described/` holds what is
// needed of them; its README says where they are from and how to renew them.

function load(file: string): unknown {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'described', file), 'utf8'));
}

const DESCRIPTION = load('openai.json') as OpenApi;

type Requests = readonly (readonly [string, unknown])[];

const bodies = (
  sentRequests: Readonly<Record<string, { readonly url: string; readonly body: object }>>,
): Requests =>
  Object.entries(sentRequests)
    .filter(([, { url }]) => !url.endsWith('/images/edits'))
    .map(([name, { body }]) => [name, body] as const);

const lines = (file: {
  readonly lines: readonly { custom_id: string; body: object }[];
}): Requests => file.lines.map(({ custom_id, body }) => [custom_id, body] as const);

describe("OpenAI's description of its interface", () => {
  it.each<[string, string, Requests]>([
    ['Responses', '/responses', bodies(openai)],
    ['Responses at Azure', '/responses', bodies(azure)],
    ['Responses in a batch', '/responses', lines(chatBatch.file)],
    ['Chat Completions', '/chat/completions', bodies(chat)],
    ['Chat Completions in a batch', '/chat/completions', lines(batch.file)],
    ['a batch', '/batches', [['batch', batch.batch.body]]],
    ['pictures', '/images/generations', bodies(images)],
  ])('has every request of %s', (_, endpoint, requests) => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
    const validate = ajv.compile(findDescribedSchema(DESCRIPTION, endpoint));
    const invalidNames = requests.filter(([, body]) => !validate(body)).map(([name]) => name);
    expect(requests.length).toBeGreaterThan(0);
    expect(invalidNames).toEqual([]);
    const unknown = requests.filter(([, body]) => validate({ ...(body as object), made_up: 1 }));
    expect(unknown).toEqual([]);
  });
});

interface Collected {
  readonly body: object;
  /** Input, output, read from the cache, written to it. */
  readonly tokens: readonly number[];
}

const READERS: Readonly<Record<string, AnswerFormat>> = {
  Messages: MESSAGES,
  Converse: CONVERSE,
  generateContent: GEMINI,
  Responses: RESPONSES,
  'Chat Completions': CHAT,
};

function pluralize(form: AnswerFormat, body: object): number[] {
  const answer = new ModelAnswer(form);
  answer.add(body);
  const { input, output, cached, cacheWritten } = answer.usage ?? {};
  return [input, output, cached, cacheWritten].map(count => count ?? 0);
}

describe('usages that others collected', () => {
  const collected = load('usages.json') as Readonly<Record<string, readonly Collected[]>>;

  it('are of every interface', () => {
    expect(Object.keys(collected)).toEqual(Object.keys(READERS));
  });

  it.each(Object.entries(READERS))('are counted alike: %s', (name, form) => {
    const read = collected[name]?.map(({ body }) => ({ body, tokens: pluralize(form, body) }));
    expect(read?.length).toBeGreaterThan(10);
    expect(read).toEqual(collected[name]);
  });
});
