import { MODALITIES } from '../../wire/index.ts';
import { list, object, oneOf, text } from '../http/schema.ts';
import { route } from './route.ts';

const resourcesSchema = object({
  hash: text({ description: 'Changes when the models change' }),
  resources: object({
    models: list(
      object({
        model: text(),
        modality: oneOf(MODALITIES),
        availableRunOptions: list(object({ key: text(), options: list(text()) })),
      }),
    ),
  }),
});

export const resourceRoutes = [
  route({
    method: 'GET',
    path: '/v1/resources',
    id: 'getResources',
    tag: 'Resources',
    summary: 'Models and the run options each accepts',
    description:
      'A client that sends the hash it holds as `cli-agent` is told by the header `action-require` on any answer that the models have changed.',
    errors: [],
    data: resourcesSchema,
    async handle({ resources }) {
      return resources.current();
    },
  }),
];
