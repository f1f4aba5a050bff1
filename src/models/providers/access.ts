import type { Provider } from '../entry.ts';
import type { PrivateRules } from '../outgoing/fetch-image.ts';
import type { Env } from '../outgoing/proxy.ts';

/** What a provider is reached with. */
export interface Access {
  readonly provider: Provider;
  /** undefined sends none. */
  readonly key: string | undefined;
  /** As EngineJob has it. */
  readonly traceparent?: string | undefined;
  /** Holds the proxies. */
  readonly env: Env;
  /** For the pictures that the provider names. */
  readonly privateRules?: PrivateRules | undefined;
}
