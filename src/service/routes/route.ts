import type { ApiAnswer, Route } from '../http/route.ts';
import type { Services } from './services.ts';

/** A route of the table, its types forgotten: they were checked where it was defined. */
export type AnyRoute = Route<Services>;

/** Checks a handler against the schemas of its route. */
export function route<P = unknown, Q = unknown, B = unknown, D = ApiAnswer>(
  route: Route<Services, P, Q, B, D>,
): AnyRoute {
  return route;
}
