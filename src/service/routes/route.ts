import type { ApiAnswer, Route } from '../http/route.ts';
import type { Media } from '../media/media.ts';
import type { PromptListing } from '../prompts/find-prompts.ts';
import type { RunServices } from '../runs/create-run.ts';
import type { MediaUrl } from '../runs/run-rows.ts';

/** What the routes work with. */
export interface Services extends RunServices, PromptListing {
  readonly media: Media;
  /** Aborted once the service is not to be sent new requests. */
  readonly draining: AbortSignal;
  /** Returns the URL of an output's media; `origin` is what a signed URL of this answer begins with. */
  readonly mediaUrl: MediaUrl;
}

/** A route of the table, its types forgotten: they were checked where it was defined. */
export type AnyRoute = Route<Services>;

/** Checks a handler against the schemas of its route. */
export function route<P = unknown, Q = unknown, B = unknown, D = ApiAnswer>(
  route: Route<Services, P, Q, B, D>,
): AnyRoute {
  return route;
}
