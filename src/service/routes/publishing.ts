import { findLabelFault } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import { invalidRequest, notFound, type Refusal } from '../core/refusal.ts';
import { boolean, object, text } from '../http/schema.ts';
import { publishSentPrompt } from '../prompts/publish-sent.ts';
import { labelBody, labelSchema, publishBody, publishedSchema } from './prompt-schemas.ts';
import { defineRoute, type Services } from './services.ts';

/** Matches 1 to 64 lower-case letters, digits and inner hyphens, such as `my-prompt`. */
const VALID_SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/**
 * The slug is called `promptId`, because OpenAPI requires one parameter name for all routes of a
 * path.
 */
const slugParams = object({ promptId: text({ description: 'The slug' }) });

const labelParams = object({ promptId: text({ description: 'The slug' }), label: text() });

/** The routes with which authors publish, withdraw and label prompts. */
export const publishingRoutes = [
  defineRoute({
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
      return await publishSentPrompt(services, { slug: requireValidSlug(params), file, partials });
    },
  }),

  defineRoute({
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
      if (!(await store.prompts.unpublish(slug))) throw unknownSlugRefusal(slug);
      return { slug, unpublished: true };
    },
  }),

  defineRoute({
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

  defineRoute({
    method: 'DELETE',
    path: '/v1/prompts/:promptId/labels/:label',
    authorsOnly: true,
    id: 'removeLabel',
    tag: 'Prompts',
    summary: 'Remove a label of a prompt',
    description:
      'Requires the key of an author. The change is recorded in the history of the prompt.',
    errors: ['FORBIDDEN_ERROR', 'NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
    params: labelParams,
    data: labelSchema,
    handle: (services, { caller, params }) => moveLabel(services, caller, params),
  }),
];

/** Moves a label to a version, or removes it if none is named. @throws {Refusal} */
async function moveLabel(
  { store, clock }: Services,
  { userName }: Caller,
  params: { readonly promptId: string; readonly label: string },
  promptVersionId?: string,
) {
  const { promptId: slug, label } = params;
  const fault = findLabelFault(label);
  if (fault !== undefined) throw invalidRequest(fault);

  const result = await store.labels.move({
    slug,
    label,
    promptVersionId,
    userName,
    movedAt: clock.now(),
  });

  if ('missing' in result) {
    if (result.missing === 'prompt') throw unknownSlugRefusal(slug);
    const missing = result.missing === 'label' ? `label "${label}"` : `version ${promptVersionId}`;
    throw notFound(`${slug} has no ${missing}`);
  }

  return { slug, label, promptVersionId: promptVersionId ?? null, previous: result.previous };
}

/**
 * Returns a valid slug. Never repairs an invalid one, which could name another prompt.
 *
 * @throws {Refusal}
 */
function requireValidSlug({ promptId: slug }: { readonly promptId: string }): string {
  if (VALID_SLUG.test(slug)) return slug;
  throw invalidRequest(
    'a slug has 1 to 64 of the characters a–z, 0–9 and -, and neither begins nor ends with -',
  );
}

/**
 * Returns the 404 for a slug, or throws if the slug is not valid. It is checked only now, because
 * watched directories may publish under other slugs.
 */
function unknownSlugRefusal(slug: string): Refusal {
  requireValidSlug({ promptId: slug });
  return notFound('the prompt does not exist, or is not published');
}
