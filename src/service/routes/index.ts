import { accountRoutes } from './account.ts';
import { promptRoutes } from './prompts.ts';
import { resourceRoutes } from './resources.ts';
import type { AnyRoute } from './route.ts';
import { runRoutes } from './runs.ts';

/** What every way of asking this service offers: the interface under /v1. */
export const INTERFACE_ROUTES: readonly AnyRoute[] = [
  ...runRoutes,
  ...promptRoutes,
  ...resourceRoutes,
  ...accountRoutes,
];
