import type { ApiAnswer, Route } from '../http/route.ts';
import type { Media } from '../media/media.ts';
import type { PromptListing } from '../prompts/find-prompts.ts';
import type { RunServices } from '../runs/create-run.ts';
import type { MediaUrl } from './run-rows.ts';

/** The services that routes use. */
export interface Services extends RunServices, PromptListing {
  readonly media: Media;
  /** Aborted once load balancers should send no new requests. */
  readonly draining: AbortSignal;
  /** Returns the URL of an output's media; only signed URLs use `origin`. */
  readonly mediaUrl: MediaUrl;
}

/** A route without its type parameters, which are checked where it is defined. */
export type AnyRoute = Route<Services>;

/** Declares a route, and checks the types of its handler against its schemas. */
export function defineRoute<P = unknown, Q = unknown, B = unknown, D = ApiAnswer>(
  route: Route<Services, P, Q, B, D>,
): AnyRoute {
  return route;
}
