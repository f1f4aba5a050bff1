import { MODALITIES } from '../../wire/index.ts';
import { enumeration, list, object, text } from '../http/schema.ts';
import { defineRoute } from './services.ts';

const resourcesSchema = object({
  hash: text({ description: 'Changes when the models change' }),
  resources: object({
    models: list(
      object({
        model: text(),
        modality: enumeration(MODALITIES),
        availableRunOptions: list(object({ key: text(), options: list(text()) })),
      }),
    ),
  }),
});

export const resourceRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/resources',
    id: 'getResources',
    tag: 'Resources',
    summary: 'List models and their run options',
    description:
      'If a client sends the hash as `cli-agent`, answers to any request have the header `Action-Require` once the models have changed.',
    errors: [],
    data: resourcesSchema,
    async handle({ resources }) {
      return resources.getResources();
    },
  }),
];
