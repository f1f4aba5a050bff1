import type { BrowserService } from './browser-service.ts';

export interface ViewContext {
  readonly service: BrowserService;
  readonly main: HTMLElement;
  setTitle(title: string): void;
  /** Aborted as soon as the user leaves the view or signs out. */
  readonly signal: AbortSignal;
  /** The parts of the address after the name of the view. */
  readonly path: readonly string[];
  /**
   * Shows the error if `work` fails, in `place`, or instead of the view. Signs out if the key is
   * refused.
   */
  handleErrors(work: Promise<void>, place?: HTMLElement): void;
}
