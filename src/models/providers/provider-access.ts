import type { Env } from '../../utils/env.ts';
import type { Provider } from '../model-entry.ts';
import type { PrivateRules } from '../outgoing/fetch-image.ts';

/** A provider with everything that a request to it needs. */
export interface ProviderAccess {
  readonly provider: Provider;
  /** The key; undefined sends none. */
  readonly key: string | undefined;
  /** The trace context, see `EngineJob.traceparent`. */
  readonly traceparent?: string | undefined;
  /** The environment, for its proxy settings and keys. */
  readonly env: Env;
  /** The rules for private addresses among the URLs of images in answers. */
  readonly privateRules?: PrivateRules | undefined;
}
