import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { anthropicError } from './anthropic.ts';
import type { ChatDialect } from './chat-dialects.ts';
import type { ProviderAnswer, ProviderRequest } from './fake-provider.ts';
import {
  type Body,
  constant,
  findRefusal,
  type InterfaceRules,
  OBJECT,
  object,
  type Schema,
  TEXT,
} from './interface-rules.ts';
import { openaiError } from './openai.ts';
import { findRealRefusal } from './real-refusal.ts';

/** A line of a file for OpenAI's batches. */
export interface BatchLine {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: Body;
}

/** Returns the lines in an uploaded form. */
export function readBatchLines(form: string): BatchLine[] {
  return form
    .split(/\r?\n/)
    .filter(line => line.startsWith('{"custom_id"'))
    .map(line => JSON.parse(line) as BatchLine);
}

const BATCH_PARAMETERS = {
  completion_window: constant('24h'),
  endpoint: { enum: ['/v1/responses', '/v1/chat/completions'] },
  input_file_id: TEXT,
  metadata: {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
  },
  output_expires_after: OBJECT,
} satisfies Partial<Record<keyof OpenAI.BatchCreateParams, Schema>>;

const OPENAI_BATCH: InterfaceRules = {
  parameters: object(BATCH_PARAMETERS, 'completion_window', 'endpoint', 'input_file_id'),
  refuse: ({ path, kind }) =>
    openaiError(
      `${kind === 'unknown' ? 'Unknown parameter' : 'Invalid value'}: '${path.join('.')}'.`,
    ),
  rules: [],
};

const ANTHROPIC_PARAMETERS = {
  requests: {
    type: 'array',
    minItems: 1,
    items: object(
      { custom_id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' }, params: OBJECT },
      'custom_id',
      'params',
    ),
  },
} satisfies Partial<Record<keyof Anthropic.Messages.BatchCreateParams, Schema>>;

const ANTHROPIC_BATCH: InterfaceRules = {
  parameters: object(ANTHROPIC_PARAMETERS, 'requests'),
  refuse: ({ path }) => anthropicError(`${path.join('.')}: Input should be valid`),
  rules: [],
};

/**
 * Returns the real service's answer to a batch that it refuses; undefined if it takes the batch.
 */
export function findBatchRefusal(
  request: ProviderRequest,
  dialect: ChatDialect,
): ProviderAnswer | undefined {
  if (request.method !== 'POST') return undefined;
  if (request.path.endsWith('/messages/batches')) return findMessagesRefusal(request, dialect);
  if (request.path.endsWith('/batches')) return findRefusal(OPENAI_BATCH, request);
  return request.path.endsWith('/files') ? findFileRefusal(request, dialect) : undefined;
}

function findMessagesRefusal(
  request: ProviderRequest,
  dialect: ChatDialect,
): ProviderAnswer | undefined {
  const refused = findRefusal(ANTHROPIC_BATCH, request);
  if (refused) return refused;

  const { requests } = JSON.parse(request.text) as { requests: { params: Body }[] };
  for (const { params } of requests) {
    const answer = singleRequest({ ...request, path: '/v1/messages' }, params, dialect);
    if (answer) return answer;
  }

  return undefined;
}

function findFileRefusal(
  request: ProviderRequest,
  dialect: ChatDialect,
): ProviderAnswer | undefined {
  const lines = readBatchLines(request.text);
  const names = new Set(lines.map(({ custom_id }) => custom_id));
  if (lines.length === 0) return openaiError('Invalid file format for Batch API. Must be .jsonl');

  if (names.size < lines.length) {
    return openaiError('The custom_id is used twice.', { code: 'duplicate_custom_id' });
  }

  for (const { url, body, method, ...more } of lines) {
    if (method !== 'POST' || Object.keys(more).length > 1) {
      return openaiError('Invalid line of a batch.');
    }
    const answer = singleRequest({ ...request, path: url }, body, dialect);
    if (answer) return answer;
  }

  return undefined;
}

/** Returns one request of a batch, as if it came alone; none may be streamed. */
function singleRequest(
  request: ProviderRequest,
  body: Body,
  dialect: ChatDialect,
): ProviderAnswer | undefined {
  if (body['stream'] === true) {
    return openaiError('Streaming is not supported in batches.', { param: 'stream' });
  }
  const headers = { ...request.headers, 'content-type': 'application/json' };
  return findRealRefusal({ ...request, headers, text: JSON.stringify(body) }, dialect);
}
