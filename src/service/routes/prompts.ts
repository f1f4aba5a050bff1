import { promptConfig } from '../../prompts/definition.ts';
import { MAX_QUERY_LENGTH, type PromptVersion, type PromptVersionEntry } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import { invalid, notFound } from '../core/refusal.ts';
import { boolean, object, text, uuid } from '../http/schema.ts';
import { listPrompts, searchPrompts, shownTemplate } from '../prompts/find-prompts.ts';
import { publishSent } from '../prompts/publish-sent.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import {
  promptListQuery,
  promptPageSchema,
  promptSearchSchema,
  promptVersionListSchema,
  promptVersionSchema,
  publishBody,
  publishedSchema,
} from './prompt-schemas.ts';
import { route } from './route.ts';
import type { Services } from './services.ts';

const promptId = object({ promptId: uuid });
/** Named as in the other routes of this path, which the description of the interface wants to be one. */
const slugParams = object({ promptId: text({ description: 'The slug' }) });

export const promptRoutes = [
  route({
    method: 'GET',
    path: '/v1/prompts',
    id: 'listPrompts',
    tag: 'Prompts',
    summary: 'Every published prompt, newest first',
    description:
      'Of this service only. Pages by cursor as `GET /v1/runs` does: the last `promptId` of a page as `startingAfter`.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    query: promptListQuery,
    data: promptPageSchema,
    handle: (services, { caller, query }) => listPrompts(services, query, caller),
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/publish',
    id: 'searchPrompts',
    tag: 'Prompts',
    summary: 'Find published prompts, best match first',
    description: 'Looks in slugs, titles and descriptions. Video prompts are left out.',
    errors: ['VALIDATION_ERROR'],
    query: object({ q: text({ description: `Trimmed, at most ${MAX_QUERY_LENGTH} characters` }) }),
    data: promptSearchSchema,
    async handle(services, { caller, query }) {
      return { rows: await searchPrompts(services, searchWords(query.q), caller) };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId',
    id: 'getPrompt',
    tag: 'Prompts',
    summary: 'A prompt with its latest version, or a given one',
    description: 'What the version is called, which inputs it expects, and its template.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptId,
    query: object({}, { versionId: uuid }),
    data: promptVersionSchema,
    async handle(services, { caller, params, query }) {
      const { store } = services;
      const promptId = params.promptId.toLowerCase();
      const version = query.versionId
        ? await store.prompts.version(query.versionId.toLowerCase())
        : await store.prompts.latest(promptId);
      if (version?.promptId !== promptId) throw notFound('there is no such published prompt or version');
      return await versionView(version, services, caller);
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId/versions',
    id: 'listPromptVersions',
    tag: 'Prompts',
    summary: 'Published versions, newest first',
    description: 'At most 10.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptId,
    data: promptVersionListSchema,
    async handle(services, { caller, params }) {
      const promptId = params.promptId.toLowerCase();
      const versions = await services.store.prompts.versions(promptId);
      const [latest] = versions;
      if (!latest) throw notFound('there is no such published prompt');
      const entries = versions.map(async (version, index): Promise<PromptVersionEntry> => {
        const { promptVersionId, publishedAt, template } = await versionView(version, services, caller);
        const isLatest = index === 0 && { isLatest: true as const };
        return { promptVersionId, publishedAt, ...isLatest, ...(template !== undefined && { template }) };
      });
      return { promptId, title: latest.title, versions: await Promise.all(entries) };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompt-versions/:promptVersionId',
    id: 'getPromptVersion',
    tag: 'Prompt versions',
    summary: 'A published prompt version',
    description: 'What the version is called, which inputs it expects, and its template.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: object({ promptVersionId: uuid }),
    data: promptVersionSchema,
    async handle(services, { caller, params }) {
      const version = await services.store.prompts.version(params.promptVersionId.toLowerCase());
      if (!version) throw notFound('there is no such published prompt version');
      return await versionView(version, services, caller);
    },
  }),

  route({
    method: 'PUT',
    path: '/v1/prompts/:promptId',
    authorsOnly: true,
    id: 'publishPrompt',
    tag: 'Prompts',
    summary: 'Publish a prompt file under its slug',
    description:
      'For keys of authors. The path ends in the slug. The same content is the same version; faults of the file come back in `data.faults`, each with its line and column.',
    errors: ['FORBIDDEN_ERROR', 'VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE_ERROR'],
    params: slugParams,
    body: publishBody,
    data: publishedSchema,
    async handle(services, { params, body }) {
      const { file, partials = {} } = body;
      return await publishSent(services, { slug: checkedSlug(params), file, partials });
    },
  }),

  route({
    method: 'DELETE',
    path: '/v1/prompts/:promptId',
    authorsOnly: true,
    id: 'unpublishPrompt',
    tag: 'Prompts',
    summary: 'Withdraw the prompt of a slug',
    description: 'For keys of authors. The path ends in the slug. Its runs stay readable.',
    errors: ['FORBIDDEN_ERROR', 'NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: slugParams,
    data: object({ slug: text(), unpublished: boolean }),
    async handle({ store }, { params }) {
      const slug = checkedSlug(params);
      if (!(await store.prompts.unpublish(slug))) throw notFound('there is no such published prompt');
      return { slug, unpublished: true };
    },
  }),
];

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** The slug as it arrived. It is never made of a part of it: that would be another prompt's. @throws {Refusal} */
function checkedSlug({ promptId: slug }: { readonly promptId: string }): string {
  if (SLUG.test(slug)) return slug;
  throw invalid('a slug is 1 to 64 of the characters a–z, 0–9 and, within it, hyphens');
}

/** A version with the inputs it expects and its template. */
async function versionView(
  version: StoredVersion,
  services: Services,
  caller: Caller,
): Promise<PromptVersion & { template?: string }> {
  const definition = await services.definitions.of(version);
  return {
    promptVersionId: version.id,
    promptId: version.promptId,
    title: version.title,
    publishedAt: new Date(version.publishedAt).toISOString(),
    config: promptConfig(definition),
    ...shownTemplate(services, caller, definition),
  };
}

function searchWords(q: string): string {
  const words = q.trim();
  if (words === '') throw invalid('q must not be empty');
  if (Array.from(words).length > MAX_QUERY_LENGTH) {
    throw invalid(`q must be at most ${MAX_QUERY_LENGTH} characters`);
  }
  return words;
}
