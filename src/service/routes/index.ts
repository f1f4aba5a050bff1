import { accountRoutes } from './account.ts';
import { promptRoutes } from './prompts.ts';
import { resourceRoutes } from './resources.ts';
import type { AnyRoute } from './route.ts';
import { runRoutes } from './runs.ts';

/** The routes under /v1, of `serve` and the embedded service. */
export const INTERFACE_ROUTES: readonly AnyRoute[] = [
  ...runRoutes,
  ...promptRoutes,
  ...resourceRoutes,
  ...accountRoutes,
];
