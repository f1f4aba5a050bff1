import { Type } from 'typebox';
import { Time, Uuid } from './common.ts';

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
