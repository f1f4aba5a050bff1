import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { Answer, type Form } from '../../../src/models/providers/answer.ts';
import { CHAT } from '../../../src/models/providers/forms/chat.ts';
import { CONVERSE } from '../../../src/models/providers/forms/converse.ts';
import { GEMINI } from '../../../src/models/providers/forms/gemini.ts';
import { MESSAGES } from '../../../src/models/providers/forms/messages.ts';
import { RESPONSES } from '../../../src/models/providers/forms/responses.ts';
import { describedSchema, type OpenApi } from '../../support/providers/described-schema.ts';
import azure from './sent/azure.ts';
import chatBatch from './sent/batch-openai.ts';
import batch from './sent/batch-openai-chat.ts';
import openai from './sent/openai.ts';
import chat from './sent/openai-chat.ts';
import images from './sent/openai-images.ts';

// Requests and counts, checked against two files that others maintain: `openapi.json` of openai/openai-openapi, and
// `usages.json` from tests/dataset of pydantic/genai-prices. They are not part of this repository: PROVIDER_DESCRIPTIONS
// names a folder that holds both, and without it these tests are skipped.

const FOLDER = process.env['PROVIDER_DESCRIPTIONS'];

function load(file: string): unknown {
  return JSON.parse(readFileSync(path.join(FOLDER ?? '', file), 'utf8'));
}

type Requests = readonly (readonly [string, unknown])[];

const bodies = (sent: Readonly<Record<string, { readonly url: string; readonly body: object }>>): Requests =>
  Object.entries(sent)
    .filter(([, { url }]) => !url.endsWith('/images/edits'))
    .map(([name, { body }]) => [name, body] as const);

const lines = (file: { readonly lines: readonly { custom_id: string; body: object }[] }): Requests =>
  file.lines.map(({ custom_id, body }) => [custom_id, body] as const);

describe.skipIf(FOLDER === undefined)("OpenAI's description of its interface", () => {
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
    const validate = ajv.compile(describedSchema(load('openapi.json') as OpenApi, endpoint));
    const refused = requests.filter(([, body]) => !validate(body)).map(([name]) => name);
    expect(requests.length).toBeGreaterThan(0);
    expect(refused).toEqual([]);
    const unknown = requests.filter(([, body]) => validate({ ...(body as object), made_up: 1 }));
    expect(unknown).toEqual([]);
  });
});

interface Collected {
  readonly body: Readonly<Record<string, unknown>> & { readonly file?: string };
  readonly extracted: readonly {
    readonly extractors: readonly { readonly provider_id: string; readonly api_flavor: string }[];
    readonly usage: Readonly<Record<string, number>>;
  }[];
}

/** Interfaces as the data set names them, and the reader of their answers. */
const READERS: Readonly<Record<string, Form>> = {
  'anthropic default': MESSAGES,
  'aws anthropic': MESSAGES,
  'aws default': CONVERSE,
  'google default': GEMINI,
  'openai responses': RESPONSES,
  'openai chat': CHAT,
  'groq default': CHAT,
  'mistral default': CHAT,
  'deepseek chat': CHAT,
  'openrouter chat': CHAT,
  'cerebras chat': CHAT,
};

/** The data set reads every body as every provider would; these count only if they are read as their own. */
const OWN: Readonly<Record<string, RegExp>> = {
  'groq default': /groq/,
  'mistral default': /mistral/,
  'deepseek chat': /deepseek/,
  'cerebras chat': /cerebras/,
  'openai responses': /^(?!.*anthropic)/,
};

/** Embeddings, and what is read otherwise on purpose: a turn of several requests, Gemini's thinking by OpenAI's interface. */
const OTHERS = /embedding|test_anthropic_compaction|test_compatible_api_with_tool_calls_without_id/;

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const;

function counted(form: Form, body: object): string {
  const answer = new Answer(form);
  answer.add(body);
  const { input, output, cached, cacheWritten = 0 } = answer.usage ?? {};
  return String([input, output, cached, cacheWritten]);
}

describe.skipIf(FOLDER === undefined)('usages that others collected', () => {
  it.each(Object.entries(READERS))('are counted alike: %s', (name, form) => {
    const pairs = (load('usages.json') as readonly Collected[]).flatMap(({ body, extracted }) => {
      const { file = '' } = body;
      if (OTHERS.test(file) || !(OWN[name]?.test(file) ?? true)) return [];
      return extracted
        .filter(({ extractors }) =>
          extractors.some(({ provider_id, api_flavor }) => `${provider_id} ${api_flavor}` === name),
        )
        .map(({ usage }) => ({
          body,
          is: counted(form, body),
          should: String(COUNTS.map(key => usage[key] ?? 0)),
        }));
    });
    expect(pairs.length).toBeGreaterThan(0);
    expect(pairs.filter(({ is, should }) => is !== should)).toEqual([]);
  });
});
