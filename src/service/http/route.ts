import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type ErrorStatus, PATH_PREFIX } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import type { Schema } from './schema.ts';

/** A request, from a connection or from this process. */
export interface ApiRequest {
  readonly method: string;
  /** The path and query as sent. */
  readonly target: string;
  /** Headers with names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The scheme, host and port of media URLs in the answer. */
  readonly origin: string;
  /** Returns the memory to count, once the caller is known. Without it, no memory is counted. */
  createReservation?(userId: number): RequestMemory;
  /** Reads the body and counts its memory; called only if the route expects a body. */
  readBody(memory: RequestMemory): Promise<Buffer>;
}

export interface ApiAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** The declared path of the route; undefined if there is none. */
  readonly route?: string | undefined;
  /** The name of the key's user; undefined if unknown. */
  readonly user?: string | undefined;
}

/** The input of a handler, checked against the schemas of its route. */
export interface HandlerInput<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Returns a SHA-256 of the body that doesn't depend on the order of its fields. */
  readonly computeBodyDigest: () => string;
  readonly caller: Caller;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly origin: string;
  readonly memory: RequestMemory;
}

/**
 * A route as plain data. Its handler gets the services `S` and returns the envelope's data, or the
 * whole answer if `data` is unset.
 */
export interface Route<S, P = unknown, Q = unknown, B = unknown, D = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with parameters as `:name`; below `/v1` it requires a key. */
  readonly path: string;
  /** True if the key must be an author's; default false. */
  readonly authorsOnly?: boolean;
  /**
   * True to admit a caller from the cache, because the handler checks the key itself; default
   * false.
   */
  readonly allowsCachedCaller?: boolean;
  /** The operation id for generated clients, such as `createRun`. */
  readonly id: string;
  readonly tag:
    | 'Runs'
    | 'Prompts'
    | 'Prompt versions'
    | 'Resources'
    | 'User'
    | 'Media'
    | 'Health'
    | 'Page';
  readonly summary: string;
  readonly description: string;
  /** The route's own errors; those of every route under /v1 are added. */
  readonly errors: readonly ErrorStatus[];
  readonly params?: Schema<P>;
  readonly query?: Schema<Q>;
  /** The headers for the description; handlers read headers themselves. */
  readonly headers?: Schema;
  readonly body?: Schema<B>;
  readonly data?: Schema<D>;
  handle(services: S, call: HandlerInput<P, Q, B>): Promise<D>;
}

/** Returns true if a route requires a key. */
export function requiresKey({ path }: { readonly path: string }): boolean {
  return path.startsWith(`${PATH_PREFIX}/`);
}
