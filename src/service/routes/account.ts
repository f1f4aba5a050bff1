import { integer, number, object, orNull, text } from '../http/schema.ts';
import { defineRoute } from './services.ts';

const accountSchema = object({
  username: orNull(text()),
  displayName: orNull(text()),
  userFlags: integer(),
});

const creditsSchema = object({ credits: number() });

export const accountRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/me',
    id: 'getAccount',
    tag: 'User',
    summary: 'Get the account of the API key',
    description: 'Returns the user to whom the API key of the request belongs.',
    errors: [],
    data: accountSchema,
    async handle(_, { caller }) {
      return { username: caller.userName, displayName: null, userFlags: 0 };
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/v1/me/credits',
    id: 'getCredits',
    tag: 'User',
    summary: 'Get the credit balance',
    description:
      'Returns the remaining credits of the user, without those reserved for running runs.',
    errors: [],
    data: creditsSchema,
    async handle({ store }, { caller }) {
      const user = await store.accounts.findUser(caller.userId);
      return { credits: user?.credits ?? 0 };
    },
  }),
];
