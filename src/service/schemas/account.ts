import { Type } from 'typebox';
import { MODALITIES } from '../../wire/index.ts';
import { oneOf } from './common.ts';

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
