import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type ErrorStatus, PATH_PREFIX } from '../../wire/index.ts';
import type { Schema } from '../schemas/schema.ts';
import type { Services } from '../services.ts';
import type { Plan } from '../store/tables.ts';

/** Who a request comes from. */
export interface Caller {
  keyId: string;
  userId: number;
  userName: string;
  plan: Plan;
  /** Whether the key is an author's, who may publish. */
  author: boolean;
}

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

/** Counts what a request and its answer keep in memory, against what all of them may. */
export interface RequestMemory {
  /** Throws TOO_MANY_REQUESTS_ERROR for more bytes than there is room for now, PAYLOAD_TOO_LARGE_ERROR for more than ever. */
  take(bytes: number): void;
  /** Says, at the latest with the answer, that nothing of it is in memory any longer; further calls do nothing. */
  free(): void;
  /** Counts what the answer will keep in memory until the caller has it; throws as `take` does. */
  takeForAnswer(bytes: number): void;
}

/** For what nobody else waits beside. */
export const UNCOUNTED: RequestMemory = { take: () => {}, free: () => {}, takeForAnswer: () => {} };

export interface ApiAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** Name of the user whose key was sent; undefined where it is not known. */
  readonly user?: string | undefined;
}

/** What a handler gets: checked against the schemas of its route. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly origin: string;
  readonly memory: RequestMemory;
}

/** One route as plain data; a handler gives the data of the envelope, or the whole answer where `data` is unset. */
interface Route<P = unknown, Q = unknown, B = unknown, D = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters as `:name`; asks for a key below `/v1`. */
  readonly path: string;
  /** Whether it asks for the key of an author; false by default. */
  readonly authorsOnly?: boolean;
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
  handle(services: Services, call: Call<P, Q, B>): Promise<D>;
}

/** A route of the table, its types forgotten: they were checked where it was defined. */
export type AnyRoute = Route;

/** Checks a handler against the schemas of its route. */
export function route<P = unknown, Q = unknown, B = unknown, D = ApiAnswer>(
  route: Route<P, Q, B, D>,
): AnyRoute {
  return route;
}

/** Whether a route asks for a key. */
export function isKeyed({ path }: AnyRoute): boolean {
  return path.startsWith(`${PATH_PREFIX}/`);
}
