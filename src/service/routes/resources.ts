import { success } from '../http/answer.ts';
import type { App } from '../http/app-type.ts';
import { ResourcesSchema } from '../schemas/account.ts';
import { envelopeOf } from '../schemas/common.ts';
import type { Services } from '../services.ts';

/** interface §4.6 */
export function resourceRoutes(app: App, { resources }: Services): void {
  app.get(
    '/resources',
    {
      config: { summary: 'Models and the run options each accepts' },
      schema: { response: { 200: envelopeOf(ResourcesSchema) } },
    },
    async () => success(resources.current()),
  );
}
