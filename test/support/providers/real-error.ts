import type { Body } from './interface-rules.ts';

/** The part of a request that an error is about. */
type Meaning =
  | 'option' // the model doesn't take an option
  | 'schema' // the model doesn't take the schema, or no schema
  | 'key'
  | 'model' // the provider doesn't know it, or not any more
  | 'quota' // used up: no use in asking again
  | 'busy' // asked again
  | 'overloaded' // nothing was done: asked again
  | 'context'
  | 'filter'
  | 'interface' // the model speaks another one
  | 'gateway'; // something between us and the provider

export interface DoubleRequest {
  readonly path: string;
  readonly body: Body;
}

/**
 * An error that a provider really sent, as somebody reported it in public. If a report has the
 * words alone, the form around them is that of the provider's other errors.
 */
export interface RealError {
  /** Prefix of the provider. */
  readonly provider: string;
  readonly means: Meaning;
  readonly status: number;
  /** Its bytes; keys and names of accounts are shortened. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The option that is refused, by our name. */
  readonly option?: string;
  /** The public issue at GitHub. */
  readonly source: string;
  /** A part of what a person must read. */
  readonly says: string;
  /** A request that gets this answer from the double of the interface too. */
  readonly double?: DoubleRequest;
}
