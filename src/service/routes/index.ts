import { accountRoutes } from './account.ts';
import { promptRoutes } from './prompts.ts';
import { publishingRoutes } from './publishing.ts';
import { resourceRoutes } from './resources.ts';
import { runRoutes } from './runs.ts';
import type { AnyRoute } from './services.ts';

/** The routes under /v1, of `serve` and the embedded service. */
export const INTERFACE_ROUTES: readonly AnyRoute[] = [
  ...runRoutes,
  ...promptRoutes,
  ...publishingRoutes,
  ...resourceRoutes,
  ...accountRoutes,
];
