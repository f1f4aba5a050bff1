import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from '../../wire/index.ts';
import { anything, boolean, integer, list, literal, object, text, time, uuid } from './schema.ts';

/** interface §2, prompt; the template is the local service's own addition */
export const promptVersionSchema = object({
  promptVersionId: uuid,
  promptId: uuid,
  title: text(),
  publishedAt: time,
  config: anything,
  template: text({ description: 'The template of the prompt file; of this service only' }),
});

/** interface §4.5 */
export const promptVersionListSchema = object({
  promptId: uuid,
  title: text(),
  versions: list(object({ promptVersionId: uuid, publishedAt: time }, { isLatest: literal(true) })),
});

const promptRow = object({
  promptId: uuid,
  promptVersionId: uuid,
  title: text(),
  description: text(),
  slug: text(),
  model: integer({ description: 'Index among the models of GET /resources; -1 if it is not there now' }),
  modality: integer({ description: '0 text, 1 image' }),
  estimatedCredits: integer(),
  uses: integer(),
  upVotes: integer(),
  publishedAt: time,
  samples: anything,
  configs: anything,
});

/** service-facts, search */
export const promptSearchSchema = object({ rows: list(promptRow) });

/** service-facts, `GET /prompts` */
export const promptPageSchema = object({ rows: list(promptRow), hasMore: boolean });

/** service-facts, `GET /prompts` */
export const promptListQuery = object(
  { limit: integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }) },
  { startingAfter: uuid, endingBefore: uuid },
);
