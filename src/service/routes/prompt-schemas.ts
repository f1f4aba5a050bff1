import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from '../../wire/index.ts';
import {
  anything,
  boolean,
  dateTime,
  integer,
  list,
  literal,
  object,
  orNull,
  text,
  textMap,
  uuid,
} from '../http/schema.ts';

const template = text({
  description: 'The template of the prompt file; left out if the service hides templates',
});

export const promptVersionSchema = object(
  { promptVersionId: uuid, promptId: uuid, title: text(), publishedAt: dateTime, config: anything },
  { template },
);

const labelMove = object({
  label: text(),
  at: dateTime,
  by: text({ description: 'The name of the user who moved the label' }),
  from: orNull(uuid),
  to: orNull(uuid),
});

/** The body of a request that sets or moves a label. */
export const labelBody = object({ promptVersionId: uuid });

export const labelSchema = object({
  slug: text(),
  label: text(),
  promptVersionId: orNull(uuid),
  previous: orNull(uuid),
});

export const promptVersionListSchema = object({
  promptId: uuid,
  title: text(),
  versions: list(
    object(
      {
        promptVersionId: uuid,
        publishedAt: dateTime,
        labels: list(text()),
        history: list(labelMove),
      },
      { isLatest: literal(true), template },
    ),
  ),
});

const promptRow = object(
  {
    promptId: uuid,
    promptVersionId: uuid,
    title: text(),
    description: text(),
    slug: text(),
    model: integer({
      description:
        'Index of the model in the list of GET /v1/resources; -1 if it is not in the list',
    }),
    modality: integer({ description: '0 for text, 1 for image' }),
    estimatedCredits: integer(),
    uses: integer(),
    upVotes: integer(),
    publishedAt: dateTime,
    samples: anything,
    configs: anything,
    labels: list(object({ label: text(), promptVersionId: uuid })),
  },
  { template },
);

export const promptSearchSchema = object({ rows: list(promptRow) });

export const promptPageSchema = object({ rows: list(promptRow), hasMore: boolean });

export const promptListQuery = object(
  { limit: integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }) },
  { startingAfter: uuid, endingBefore: uuid },
);

/** The body of a request that publishes a prompt. */
export const publishBody = object(
  { file: text({ description: 'The prompt file' }) },
  { partials: { ...textMap, description: 'The partials of the prompt file, by name' } },
);

export const publishedSchema = object({
  promptId: uuid,
  promptVersionId: uuid,
  slug: text(),
  title: text(),
  changed: { ...boolean, description: 'False if this content was already the latest version' },
});
