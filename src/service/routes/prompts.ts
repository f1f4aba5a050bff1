import { MAX_QUERY_LENGTH, type PromptVersion, type PromptVersionEntry } from '../../wire/index.ts';
import { invalid, notFound } from '../http/api-error.ts';
import { route } from '../http/route.ts';
import { promptConfig } from '../prompts/definition.ts';
import type { Definitions } from '../prompts/definitions.ts';
import { listPrompts, searchPrompts } from '../prompts/find-prompts.ts';
import {
  promptListQuery,
  promptPageSchema,
  promptSearchSchema,
  promptVersionListSchema,
  promptVersionSchema,
} from '../schemas/prompts.ts';
import { object, text, uuid } from '../schemas/schema.ts';
import type { StoredVersion } from '../store/prompts-store.ts';

const promptId = object({ promptId: uuid });

/** interface §4.4, §4.5; service-facts, search and `GET /prompts` */
export const promptRoutes = [
  route({
    method: 'GET',
    path: '/v1/prompts',
    operation: {
      id: 'listPrompts',
      tag: 'Prompts',
      summary: 'Every published prompt, newest first',
      description:
        'Of this service only. Pages by cursor as `GET /v1/runs` does: the last `promptId` of a page as `startingAfter`.',
    },
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    query: promptListQuery,
    data: promptPageSchema,
    handle: (services, { query }) => listPrompts(services, query),
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/publish',
    operation: {
      id: 'searchPrompts',
      tag: 'Prompts',
      summary: 'Find published prompts, best match first',
      description: 'Looks in slugs, titles and descriptions. Video prompts are left out.',
    },
    errors: ['VALIDATION_ERROR'],
    query: object({ q: text({ description: `Trimmed, at most ${MAX_QUERY_LENGTH} characters` }) }),
    data: promptSearchSchema,
    async handle(services, { query }) {
      return { rows: await searchPrompts(services, searchWords(query.q)) };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId',
    operation: {
      id: 'getPrompt',
      tag: 'Prompts',
      summary: 'A prompt with its latest version, or a given one',
      description: 'What the version is called, which inputs it expects, and its template.',
    },
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptId,
    query: object({}, { versionId: uuid }),
    data: promptVersionSchema,
    async handle({ store, definitions }, { params, query }) {
      const promptId = params.promptId.toLowerCase();
      const version = query.versionId
        ? await store.prompts.version(query.versionId.toLowerCase())
        : await store.prompts.latest(promptId);
      if (version?.promptId !== promptId) throw notFound('there is no such published prompt or version');
      return await versionView(version, definitions);
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId/versions',
    operation: {
      id: 'listPromptVersions',
      tag: 'Prompts',
      summary: 'Published versions, newest first',
      description: 'At most 10.',
    },
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptId,
    data: promptVersionListSchema,
    async handle({ store }, { params }) {
      const promptId = params.promptId.toLowerCase();
      const versions = await store.prompts.versions(promptId);
      const [latest] = versions;
      if (!latest) throw notFound('there is no such published prompt');
      return { promptId, title: latest.title, versions: versions.map(versionEntry) };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompt-versions/:promptVersionId',
    operation: {
      id: 'getPromptVersion',
      tag: 'Prompt versions',
      summary: 'A published prompt version',
      description: 'What the version is called, which inputs it expects, and its template.',
    },
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: object({ promptVersionId: uuid }),
    data: promptVersionSchema,
    async handle({ store, definitions }, { params }) {
      const version = await store.prompts.version(params.promptVersionId.toLowerCase());
      if (!version) throw notFound('there is no such published prompt version');
      return await versionView(version, definitions);
    },
  }),
];

/** A version with the inputs it expects (interface §2) and its template. */
async function versionView(
  version: StoredVersion,
  definitions: Definitions,
): Promise<PromptVersion & { template: string }> {
  const definition = await definitions.of(version);
  return {
    promptVersionId: version.id,
    promptId: version.promptId,
    title: version.title,
    publishedAt: new Date(version.publishedAt).toISOString(),
    config: promptConfig(definition),
    template: definition.template,
  };
}

/** An entry of the list of versions, the first of which is the latest (interface §2). */
function versionEntry(version: StoredVersion, index: number): PromptVersionEntry {
  const entry = { promptVersionId: version.id, publishedAt: new Date(version.publishedAt).toISOString() };
  return index === 0 ? { ...entry, isLatest: true } : entry;
}

function searchWords(q: string): string {
  const words = q.trim();
  if (words === '') throw invalid('q must not be empty');
  if (Array.from(words).length > MAX_QUERY_LENGTH) {
    throw invalid(`q must be at most ${MAX_QUERY_LENGTH} characters`);
  }
  return words;
}
