import {
  DEFAULT_LIST_LIMIT,
  MAX_LIST_LIMIT,
  OUTPUT_TYPES,
  RUN_STATUSES,
} from '../../wire/index.ts';
import {
  boolean,
  dateTime,
  enumeration,
  integer,
  list,
  literal,
  number,
  object,
  orNull,
  type Schema,
  tagged,
  text,
  textMap,
  uuid,
} from '../http/schema.ts';

const outputType: Schema<string> = enumeration(OUTPUT_TYPES);

const outputItem = object({
  type: outputType,
  data: text({
    description: 'By type: the text, the media URL (valid for 24 hours) or the error message',
  }),
});

export const runSchema = object(
  {
    runId: uuid,
    outputs: list(outputItem),
    runStatus: enumeration(RUN_STATUSES),
    tokens: integer({ description: 'Service tokens consumed; 0 while in progress' }),
  },
  { warnings: list(text({ description: 'A part of the request that the model did not get' })) },
);

const runUsage = object({
  model: text(),
  tokens: orNull(object({ input: integer(), output: integer(), cached: integer() })),
  cost: orNull(number({ description: 'US dollars; null if unknown, or while in progress' })),
  estimated: {
    ...boolean,
    description: 'True if the cost is computed from the price table of the service',
  },
});

const runRowSchema = object(
  {
    runId: uuid,
    promptVersionId: uuid,
    outputs: list(outputItem),
    runStatus: enumeration(RUN_STATUSES),
    credits: orNull(integer({ description: 'Credits consumed; null if the run was free' })),
    runName: text(),
    createdAt: dateTime,
  },
  {
    idempotencyKey: text({ description: 'The requested idempotency key' }),
    usage: runUsage,
    endedAt: {
      ...orNull(dateTime),
      description: 'Only with `times=true`; null if unknown, or while in progress',
    },
  },
);

export const runPageSchema = object({ rows: list(runRowSchema), hasMore: boolean });

export const runListQuery = object(
  { limit: integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }) },
  {
    startingAfter: uuid,
    endingBefore: uuid,
    status: enumeration(RUN_STATUSES),
    since: integer({
      description: 'Unix seconds, or milliseconds above 10^11; created at or after',
    }),
    until: integer({ description: 'Unix seconds, or milliseconds above 10^11; created before' }),
    idempotencyKey: text({ description: 'Lists only the run that was created with this key' }),
    usage: enumeration(['true', 'false']),
    times: enumeration(['true', 'false']),
  },
);

const imageInputSchema = tagged<{ type: 'url'; url: string } | { type: 'base64'; base64: string }>(
  'type',
  [
    object({ type: literal('url'), url: text({ description: 'A public https URL' }) }),
    object({ type: literal('base64'), base64: text({ description: 'Without a data URL prefix' }) }),
  ],
);

export const createRunBody = object(
  {
    promptVersionId: uuid,
    inputs: object({}, { textInputs: textMap, imageInputs: list(imageInputSchema) }),
  },
  { runOptions: textMap },
);
