import type { Media } from '../media/media.ts';
import type { PromptListing } from '../prompts/find-prompts.ts';
import type { RunServices } from '../runs/create-run.ts';
import type { MediaUrl } from '../runs/run-rows.ts';

/** What the routes work with. */
export interface Services extends RunServices, PromptListing {
  readonly media: Media;
  /** Returns the URL of an output's media; `origin` is what a signed URL of this answer begins with. */
  readonly mediaUrl: MediaUrl;
}
