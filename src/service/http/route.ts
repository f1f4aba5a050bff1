import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type ErrorStatus, PATH_PREFIX } from '../../wire/index.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import type { Schema } from './schema.ts';

/** A request, however it came: over a connection or from the same process. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Scheme, host and port that media URLs of the answer begin with. */
  readonly origin: string;
  /** Called once the caller is known; where it is left out, nothing is counted. */
  memoryFor?(userId: number): RequestMemory;
  /** Called only where a body is expected; counts it. */
  readBody(memory: RequestMemory): Promise<Buffer>;
}

export interface ApiAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** The path of the route as it is declared; undefined if there is none. */
  readonly route?: string | undefined;
  /** Name of the user whose key was sent; undefined where it is not known. */
  readonly user?: string | undefined;
}

/** What a handler gets: checked against the schemas of its route. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Returns the SHA-256 of the body, whatever the order of its fields. */
  readonly bodyDigest: () => string;
  readonly caller: Caller;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly origin: string;
  readonly memory: RequestMemory;
}

/** One route as plain data, for handlers that work with `S`; a handler gives the data of the envelope, or the whole answer where `data` is unset. */
export interface Route<S, P = unknown, Q = unknown, B = unknown, D = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters as `:name`; asks for a key below `/v1`. */
  readonly path: string;
  /** Whether it asks for the key of an author; false by default. */
  readonly authorsOnly?: boolean;
  /** Whether its handler looks at the key itself, so that one that was valid a moment ago gets that far; default false. */
  readonly checksKey?: boolean;
  /** What generated clients call it, such as `createRun`. */
  readonly id: string;
  readonly tag: 'Runs' | 'Prompts' | 'Prompt versions' | 'Resources' | 'User' | 'Media' | 'Health' | 'Page';
  readonly summary: string;
  readonly description: string;
  /** The errors of its own; those of every route under /v1 are added. */
  readonly errors: readonly ErrorStatus[];
  readonly params?: Schema<P>;
  readonly query?: Schema<Q>;
  /** For the description only: handlers read headers by themselves. */
  readonly headers?: Schema;
  readonly body?: Schema<B>;
  readonly data?: Schema<D>;
  handle(services: S, call: Call<P, Q, B>): Promise<D>;
}

/** Whether a route asks for a key. */
export function isKeyed({ path }: { readonly path: string }): boolean {
  return path.startsWith(`${PATH_PREFIX}/`);
}
