import { MODALITIES } from '../../wire/index.ts';
import { integer, list, number, object, oneOf, text, textOrNull } from './schema.ts';

/** interface §4.6 */
export const resourcesSchema = object({
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

/** service-facts, account */
export const accountSchema = object({
  username: textOrNull,
  displayName: textOrNull,
  userFlags: integer(),
});

/** service-facts, credit balance */
export const creditsSchema = object({ credits: number() });
