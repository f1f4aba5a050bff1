import { Type } from 'typebox';
import { MAX_QUERY_LENGTH } from '../../wire/index.ts';
import { success } from '../http/answer.ts';
import { invalid, notFound } from '../http/api-error.ts';
import type { App } from '../http/app-type.ts';
import { searchPrompts } from '../prompts/search.ts';
import { envelopeOf, Uuid } from '../schemas/common.ts';
import { PromptSearchSchema, PromptVersionListSchema, PromptVersionSchema } from '../schemas/prompts.ts';
import type { Services } from '../services.ts';
import { versionEntry, versionView } from './version-view.ts';

const PromptId = Type.Object({ promptId: Uuid });

/** interface §4.4, §4.5; service-facts, search */
export function promptRoutes(app: App, services: Services): void {
  const { store, definitions } = services;

  app.get(
    '/prompts/publish',
    {
      config: { summary: 'Find published prompts, best match first', errors: ['VALIDATION_ERROR'] },
      schema: {
        querystring: Type.Object({
          q: Type.String({ description: `Trimmed, at most ${MAX_QUERY_LENGTH} characters` }),
        }),
        response: { 200: envelopeOf(PromptSearchSchema) },
      },
    },
    async request => success({ rows: await searchPrompts(services, searchWords(request.query.q)) }),
  );

  app.get(
    '/prompts/:promptId',
    {
      config: {
        summary: 'A prompt with its latest, or a given, version',
        errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
      },
      schema: {
        params: PromptId,
        querystring: Type.Object({ versionId: Type.Optional(Uuid) }),
        response: { 200: envelopeOf(PromptVersionSchema) },
      },
    },
    async request => {
      const promptId = request.params.promptId.toLowerCase();
      const { versionId } = request.query;
      const version = versionId
        ? await store.prompts.version(versionId.toLowerCase())
        : await store.prompts.latest(promptId);
      if (version?.promptId !== promptId) throw notFound('there is no such published prompt or version');
      return success(versionView(version, definitions));
    },
  );

  app.get(
    '/prompts/:promptId/versions',
    {
      config: {
        summary: 'Published versions, newest first',
        errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'],
      },
      schema: { params: PromptId, response: { 200: envelopeOf(PromptVersionListSchema) } },
    },
    async request => {
      const promptId = request.params.promptId.toLowerCase();
      const versions = await store.prompts.versions(promptId);
      const [latest] = versions;
      if (!latest) throw notFound('there is no such published prompt');
      return success({ promptId, title: latest.title, versions: versions.map(versionEntry) });
    },
  );

  app.get(
    '/prompt-versions/:promptVersionId',
    {
      config: { summary: 'A published prompt version', errors: ['NOT_FOUND_ERROR', 'VALIDATION_ERROR'] },
      schema: {
        params: Type.Object({ promptVersionId: Uuid }),
        response: { 200: envelopeOf(PromptVersionSchema) },
      },
    },
    async request => {
      const version = await store.prompts.version(request.params.promptVersionId.toLowerCase());
      if (!version) throw notFound('there is no such published prompt version');
      return success(versionView(version, definitions));
    },
  );
}

function searchWords(q: string): string {
  const words = q.trim();
  if (words === '') throw invalid('q must not be empty');
  if (Array.from(words).length > MAX_QUERY_LENGTH) {
    throw invalid(`q must be at most ${MAX_QUERY_LENGTH} characters`);
  }
  return words;
}
