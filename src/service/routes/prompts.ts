import { promptConfig } from '../../prompts/definition.ts';
import { labelFault, MAX_QUERY_LENGTH, type PromptVersion } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import { invalidRequest, notFound, type Refusal } from '../core/refusal.ts';
import { boolean, object, text, uuid } from '../http/schema.ts';
import { listPrompts, searchPrompts, shownTemplate } from '../prompts/find-prompts.ts';
import { publishSent } from '../prompts/publish-sent.ts';
import type { StoredVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import {
  labelBody,
  labelSchema,
  promptListQuery,
  promptPageSchema,
  promptSearchSchema,
  promptVersionListSchema,
  promptVersionSchema,
  publishBody,
  publishedSchema,
} from './prompt-schemas.ts';
import { route, type Services } from './services.ts';

const promptId = object({ promptId: uuid });
/** The slug is called `promptId`, because OpenAPI requires one parameter name for all routes of a path. */
const slugParams = object({ promptId: text({ description: 'The slug' }) });

const labelParams = object({ promptId: text({ description: 'The slug' }), label: text() });

export const promptRoutes = [
  route({
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

  route({
    method: 'GET',
    path: '/v1/prompts/publish',
    id: 'searchPrompts',
    tag: 'Prompts',
    summary: 'Search published prompts, best match first',
    description: 'Searches slugs, titles and descriptions. Leaves out video prompts.',
    errors: ['VALIDATION_ERROR'],
    query: object({
      q: text({ description: `The words to search for: trimmed, at most ${MAX_QUERY_LENGTH} characters` }),
    }),
    data: promptSearchSchema,
    async handle(services, { caller, query }) {
      return { rows: await searchPrompts(services, checkSearchQuery(query.q), caller) };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId',
    id: 'getPrompt',
    tag: 'Prompts',
    summary: 'Get a prompt with its latest version, or another one',
    description: 'Returns the title of the version, its inputs and its template.',
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
      if (version?.promptId !== promptId) {
        throw notFound('the prompt or version does not exist, or is not published');
      }
      return await versionView(version, services, caller);
    },
  }),

  route({
    method: 'GET',
    path: '/v1/prompts/:promptId/versions',
    id: 'listPromptVersions',
    tag: 'Prompts',
    summary: 'List the published versions of a prompt, newest first',
    description: 'Returns at most 10 versions, each with its labels and their history.',
    errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: promptId,
    data: promptVersionListSchema,
    async handle(services, { caller, params }) {
      const promptId = params.promptId.toLowerCase();
      const versions = await services.store.prompts.versions(promptId);
      const [latest] = versions;
      if (!latest) throw notFound('the prompt does not exist, or is not published');
      const labelled = await labelledVersions(services.store, promptId);
      const entries = versions.map(async (version, index) => {
        const { promptVersionId, publishedAt, template } = await versionView(version, services, caller);
        const isLatest = index === 0 && { isLatest: true as const };
        const hasTemplate = template !== undefined && { template };
        return { promptVersionId, publishedAt, ...labelled(promptVersionId), ...isLatest, ...hasTemplate };
      });
      return { promptId, title: latest.title, versions: await Promise.all(entries) };
    },
  }),

  route({
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
      const version = await services.store.prompts.version(params.promptVersionId.toLowerCase());
      if (!version) throw notFound('the prompt version does not exist, or is not published');
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
      'Requires the key of an author. The path contains the slug. Equal content keeps its version. Faults of the file are listed in `data.faults`, each with line and column.',
    errors: ['FORBIDDEN_ERROR', 'VALIDATION_ERROR'],
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
    summary: 'Withdraw a prompt by its slug',
    description:
      'Requires the key of an author. The path contains the slug. Runs of the prompt stay readable.',
    errors: ['FORBIDDEN_ERROR', 'NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: slugParams,
    data: object({ slug: text(), unpublished: boolean }),
    async handle({ store }, { params }) {
      const slug = params.promptId;
      if (!(await store.prompts.unpublish(slug))) throw unknownSlug(slug);
      return { slug, unpublished: true };
    },
  }),

  route({
    method: 'PUT',
    path: '/v1/prompts/:promptId/labels/:label',
    authorsOnly: true,
    id: 'setLabel',
    tag: 'Prompts',
    summary: 'Set or move a label of a prompt',
    description:
      'Requires the key of an author. The path contains the slug and the label. The change is recorded in the history of the prompt.',
    errors: ['FORBIDDEN_ERROR', 'NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: labelParams,
    body: labelBody,
    data: labelSchema,
    handle: (services, { caller, params, body }) =>
      moveLabel(services, caller, params, body.promptVersionId.toLowerCase()),
  }),

  route({
    method: 'DELETE',
    path: '/v1/prompts/:promptId/labels/:label',
    authorsOnly: true,
    id: 'removeLabel',
    tag: 'Prompts',
    summary: 'Remove a label of a prompt',
    description: 'Requires the key of an author. The change is recorded in the history of the prompt.',
    errors: ['FORBIDDEN_ERROR', 'NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: labelParams,
    data: labelSchema,
    handle: (services, { caller, params }) => moveLabel(services, caller, params),
  }),
];

/**
 * Returns a function that returns the labels of a version and their history. A move belongs to its new version, a removal
 * to the former one.
 */
async function labelledVersions(store: Store, promptId: string) {
  const [labels, moves] = await Promise.all([store.labels.of([promptId]), store.labels.moves(promptId)]);
  return (versionId: string) => ({
    labels: labels.filter(({ promptVersionId }) => promptVersionId === versionId).map(({ label }) => label),
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

/** Sets, moves or removes a label. @throws {Refusal} */
async function moveLabel(
  { store, clock }: Services,
  { userName }: Caller,
  params: { readonly promptId: string; readonly label: string },
  promptVersionId?: string,
) {
  const { promptId: slug, label } = params;
  const fault = labelFault(label);
  if (fault !== undefined) throw invalidRequest(fault);
  const result = await store.labels.move({ slug, label, promptVersionId, by: userName, at: clock.now() });
  if ('missing' in result) {
    if (result.missing === 'prompt') throw unknownSlug(slug);
    const missing = result.missing === 'label' ? `label "${label}"` : `version ${promptVersionId}`;
    throw notFound(`${slug} has no ${missing}`);
  }
  return { slug, label, promptVersionId: promptVersionId ?? null, previous: result.previous };
}

const NEW_SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Returns a valid slug. Never repairs an invalid one, which could name another prompt. @throws {Refusal} */
function checkedSlug({ promptId: slug }: { readonly promptId: string }): string {
  if (NEW_SLUG.test(slug)) return slug;
  throw invalidRequest(
    'a slug has 1 to 64 of the characters a–z, 0–9 and -, and neither begins nor ends with -',
  );
}

/** Returns the 404. The slug is checked only now, because watched directories may publish under other slugs. */
function unknownSlug(slug: string): Refusal {
  return notFound(checkedSlug({ promptId: slug }) && 'the prompt does not exist, or is not published');
}

/** Returns a version with its inputs and template. */
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

function checkSearchQuery(q: string): string {
  const words = q.trim();
  if (words === '') throw invalidRequest('q must not be empty');
  if (Array.from(words).length > MAX_QUERY_LENGTH) {
    throw invalidRequest(`q must be at most ${MAX_QUERY_LENGTH} characters`);
  }
  return words;
}
