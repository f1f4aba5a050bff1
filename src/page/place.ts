import type { BrowserService } from './service.ts';

/** What a view is given: the service, where it draws, and when it is left. */
export interface Place {
  readonly service: BrowserService;
  readonly main: HTMLElement;
  /** Gives the view another title. */
  entitle(title: string): void;
  /** Aborted as soon as another view is shown, or nobody is signed in any more. */
  readonly signal: AbortSignal;
  /** What stands after the name of the view in the address. */
  readonly path: readonly string[];
  /** Shows what `work` ends with if it fails, in `at` or instead of the view; a refused key leads to signing in. */
  guard(work: Promise<void>, at?: HTMLElement): void;
}
