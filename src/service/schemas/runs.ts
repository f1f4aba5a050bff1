import { type Static, Type } from 'typebox';
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, OUTPUT_TYPES, RUN_STATUSES } from '../../wire/index.ts';
import { oneOf, StringMap, Time, Uuid } from './common.ts';

const OutputItem = Type.Object({
  type: Type.Unsafe<string>(oneOf(OUTPUT_TYPES)),
  data: Type.String({ description: 'The text, the media URL (24 hours) or the error message, by type' }),
});

/** interface §2, run from create and retrieve */
export const RunSchema = Type.Object({
  runId: Uuid,
  outputs: Type.Array(OutputItem),
  runStatus: oneOf(RUN_STATUSES),
  tokens: Type.Integer(),
});

const RunRow = Type.Object({
  runId: Uuid,
  promptVersionId: Uuid,
  outputs: Type.Array(OutputItem),
  runStatus: oneOf(RUN_STATUSES),
  credits: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  runName: Type.String(),
  createdAt: Time,
});

/** interface §4.1 */
export const RunPageSchema = Type.Object({ rows: Type.Array(RunRow), hasMore: Type.Boolean() });

/** interface §4.1 */
export const RunListQuerySchema = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
  startingAfter: Type.Optional(Uuid),
  endingBefore: Type.Optional(Uuid),
  status: Type.Optional(oneOf(RUN_STATUSES)),
  since: Type.Optional(Type.Integer({ description: 'Unix seconds; created at or after' })),
  until: Type.Optional(Type.Integer({ description: 'Unix seconds; created before' })),
});

const ImageInput = Type.Unsafe<{ type: 'url'; url: string } | { type: 'base64'; base64: string }>({
  type: 'object',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [
    Type.Object({ type: Type.Literal('url'), url: Type.String() }),
    Type.Object({ type: Type.Literal('base64'), base64: Type.String() }),
  ],
});

/** interface §4.2 */
export const CreateRunSchema = Type.Object({
  promptVersionId: Uuid,
  inputs: Type.Object({
    textInputs: Type.Optional(StringMap),
    imageInputs: Type.Optional(Type.Array(ImageInput)),
  }),
  runOptions: Type.Optional(StringMap),
});
export type CreateRun = Static<typeof CreateRunSchema>;
