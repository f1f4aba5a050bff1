import { type Static, type TSchema, Type } from 'typebox';
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, MODALITIES, OUTPUT_TYPES, RUN_STATUSES } from '../wire/index.ts';

const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const Uuid = Type.String({ format: 'uuid', pattern: UUID_PATTERN });
const Time = Type.String({ format: 'date-time', description: 'ISO 8601' });
const StringMap = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values] });
}

/** A success with this payload (interface §7). */
export function envelopeOf<T extends TSchema>(data: T) {
  return Type.Object({ status: Type.Literal('SUCCESS'), data });
}

export const ErrorEnvelopeSchema = Type.Object(
  { status: Type.String(), message: Type.String(), data: Type.Unknown() },
  { description: 'Every failure' },
);

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

/** interface §2, prompt */
export const PromptVersionSchema = Type.Object({
  promptVersionId: Uuid,
  promptId: Uuid,
  title: Type.String(),
  publishedAt: Time,
  config: Type.Unknown(),
});

/** interface §4.5 */
export const PromptVersionListSchema = Type.Object({
  promptId: Uuid,
  title: Type.String(),
  versions: Type.Array(
    Type.Object({
      promptVersionId: Uuid,
      publishedAt: Time,
      isLatest: Type.Optional(Type.Literal(true)),
    }),
  ),
});

/** service-facts, search */
export const PromptSearchSchema = Type.Object({
  rows: Type.Array(
    Type.Object({
      promptId: Uuid,
      promptVersionId: Uuid,
      title: Type.String(),
      description: Type.String(),
      slug: Type.String(),
      model: Type.Integer({
        description: 'Index among the models of GET /resources; -1 if it is not there now',
      }),
      modality: Type.Integer({ description: '0 text, 1 image' }),
      estimatedCredits: Type.Integer(),
      uses: Type.Integer(),
      upVotes: Type.Integer(),
      publishedAt: Time,
      samples: Type.Unknown(),
      configs: Type.Unknown(),
    }),
  ),
});

/** interface §4.6 */
export const ResourcesSchema = Type.Object({
  hash: Type.String(),
  resources: Type.Object({
    models: Type.Array(
      Type.Object({
        model: Type.String(),
        modality: oneOf(MODALITIES),
        availableRunOptions: Type.Array(
          Type.Object({ key: Type.String(), options: Type.Array(Type.String()) }),
        ),
      }),
    ),
  }),
});

/** service-facts, account */
export const AccountSchema = Type.Object({
  username: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  displayName: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  userFlags: Type.Integer(),
});

/** service-facts, credit balance */
export const CreditsSchema = Type.Object({ credits: Type.Number() });
