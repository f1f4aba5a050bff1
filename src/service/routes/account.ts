import { callerOf, success } from '../http/answer.ts';
import type { App } from '../http/app-type.ts';
import { AccountSchema, CreditsSchema } from '../schemas/account.ts';
import { envelopeOf } from '../schemas/common.ts';
import type { Services } from '../services.ts';

/** service-facts, account and credit balance */
export function accountRoutes(app: App, { store }: Services): void {
  app.get(
    '/me',
    {
      config: { summary: 'Who the key belongs to' },
      schema: { response: { 200: envelopeOf(AccountSchema) } },
    },
    async request => success({ username: callerOf(request).userName, displayName: null, userFlags: 0 }),
  );

  app.get(
    '/me/credits',
    {
      config: { summary: 'What is left to spend, reservations taken off' },
      schema: { response: { 200: envelopeOf(CreditsSchema) } },
    },
    async request => {
      const user = await store.accounts.user(callerOf(request).userId);
      return success({ credits: user?.credits ?? 0 });
    },
  );
}
