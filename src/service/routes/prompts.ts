import { toPromptConfig } from '../../prompts/definition.ts';
import { MAX_QUERY_LENGTH, type PromptVersion } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import { invalidRequest, notFound } from '../core/refusal.ts';
import { object, text, uuid } from '../http/schema.ts';
import { listPrompts, pickShownTemplate, searchPrompts } from '../prompts/find-prompts.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import {
  promptListQuery,
  promptPageSchema,
  promptSearchSchema,
  promptVersionListSchema,
  promptVersionSchema,
} from './prompt-schemas.ts';
import { defineRoute, type Services } from './services.ts';

const promptParams = object({ promptId: uuid });

export const promptRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/prompts',
    id: 'listPrompts',
    tag: 'Prompts',
    summary: 'List published prompts, newest first',
    description:
      'Lists the prompts of this service. Use the last `promptId` of a page as the `startingAfter` of the next.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    query: promptListQuery,
    data: promptPageSchema,
    handle: (services, { caller, query }) => listPrompts(services, query, caller),
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/prompts/publish',
    id: 'searchPrompts',
    tag: 'Prompts',
    summary: 'Search published prompts, best match first',
    description: 'Searches slugs, titles and descriptions. Leaves out video prompts.',
    errors: ['VALIDATION_ERROR'],
    query: object({
      q: text({
        description: `The words to search for: trimmed, at most ${MAX_QUERY_LENGTH} characters`,
      }),
    }),
    data: promptSearchSchema,
    async handle(services, { caller, query }) {
      return { rows: await searchPrompts(services, requireSearchWords(query.q), caller) };
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/prompts/:promptId',
    id: 'getPrompt',
    tag: 'Prompts',
    summary: 'Get a prompt with its latest version, or another one',
    description: 'Returns the title of the version, its inputs and its template.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptParams,
    query: object({}, { versionId: uuid }),
    data: promptVersionSchema,
    async handle(services, { caller, params, query }) {
      const { store } = services;
      const promptId = params.promptId.toLowerCase();
      const version = query.versionId
        ? await store.prompts.findVersion(query.versionId.toLowerCase())
        : await store.prompts.findLatest(promptId);
      if (version?.promptId !== promptId) {
        throw notFound('the prompt or version does not exist, or is not published');
      }

      return await buildVersionView(version, services, caller);
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/prompts/:promptId/versions',
    id: 'listPromptVersions',
    tag: 'Prompts',
    summary: 'List the published versions of a prompt, newest first',
    description: 'Returns at most 10 versions, each with its labels and their history.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptParams,
    data: promptVersionListSchema,
    async handle(services, { caller, params }) {
      const promptId = params.promptId.toLowerCase();
      const versions = await services.store.prompts.listVersions(promptId);
      const [latest] = versions;
      if (!latest) throw notFound('the prompt does not exist, or is not published');

      const findLabels = await createLabelLookup(services.store, promptId);
      const entries = versions.map(async (version, index) => {
        const { promptVersionId, publishedAt, template } = await buildVersionView(
          version,
          services,
          caller,
        );

        return {
          promptVersionId,
          publishedAt,
          ...findLabels(promptVersionId),
          ...(index === 0 && { isLatest: true as const }),
          ...(template !== undefined && { template }),
        };
      });
      return { promptId, title: latest.title, versions: await Promise.all(entries) };
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/prompt-versions/:promptVersionId',
    id: 'getPromptVersion',
    tag: 'Prompt versions',
    summary: 'Get a published prompt version',
    description: 'Returns the title of the version, its inputs and its template.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: object({ promptVersionId: uuid }),
    data: promptVersionSchema,
    async handle(services, { caller, params }) {
      const version = await services.store.prompts.findVersion(
        params.promptVersionId.toLowerCase(),
      );
      if (!version) throw notFound('the prompt version does not exist, or is not published');
      return await buildVersionView(version, services, caller);
    },
  }),
];

/**
 * Returns a function that finds the labels of a version and their history. A move belongs to its
 * new version, a removal to the former one. /
 */
async function createLabelLookup(store: Store, promptId: string) {
  const [labels, moves] = await Promise.all([
    store.labels.listForPrompts([promptId]),
    store.labels.listMoves(promptId),
  ]);
  return (versionId: string) => ({
    labels: labels
      .filter(({ promptVersionId }) => promptVersionId === versionId)
      .map(({ label }) => label),
    history: moves
      .filter(({ fromVersionId, toVersionId }) => (toVersionId ?? fromVersionId) === versionId)
      .map(({ label, movedAt, movedBy, fromVersionId, toVersionId }) => ({
        label,
        at: new Date(movedAt).toISOString(),
        by: movedBy,
        from: fromVersionId,
        to: toVersionId,
      })),
  });
}

/** Returns a version with its inputs and template. */
async function buildVersionView(
  version: StoredVersion,
  services: Services,
  caller: Caller,
): Promise<PromptVersion & { template?: string }> {
  const definition = await services.definitions.getByVersion(version);
  return {
    promptVersionId: version.id,
    promptId: version.promptId,
    title: version.title,
    publishedAt: new Date(version.publishedAt).toISOString(),
    config: toPromptConfig(definition),
    ...pickShownTemplate(services, caller, definition),
  };
}

function requireSearchWords(q: string): string {
  const words = q.trim();
  if (words === '') throw invalidRequest('q must not be empty');
  if (Array.from(words).length > MAX_QUERY_LENGTH) {
    throw invalidRequest(`q must be at most ${MAX_QUERY_LENGTH} characters`);
  }
  return words;
}
