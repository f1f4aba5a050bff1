import { integer, number, object, orNull, text } from '../http/schema.ts';
import { route } from './route.ts';

const accountSchema = object({
  username: orNull(text()),
  displayName: orNull(text()),
  userFlags: integer(),
});

const creditsSchema = object({ credits: number() });

export const accountRoutes = [
  route({
    method: 'GET',
    path: '/v1/me',
    id: 'getAccount',
    tag: 'User',
    summary: 'Who the key belongs to',
    description: 'The user that the API key of the request belongs to.',
    errors: [],
    data: accountSchema,
    async handle(_, { caller }) {
      return { username: caller.userName, displayName: null, userFlags: 0 };
    },
  }),

  route({
    method: 'GET',
    path: '/v1/me/credits',
    id: 'getCredits',
    tag: 'User',
    summary: 'What is left to spend',
    description: 'The credit balance of the user, with what running runs have reserved taken off.',
    errors: [],
    data: creditsSchema,
    async handle({ store }, { caller }) {
      const user = await store.accounts.user(caller.userId);
      return { credits: user?.credits ?? 0 };
    },
  }),
];
