import { JsonPastBound, MAX_BODY_VALUES, PATH_PREFIX, parseBoundedJson } from '../../wire/index.ts';
import { faultOf } from '../schemas/check.ts';
import type { Schema } from '../schemas/schema.ts';
import type { Services } from '../services.ts';
import { ApiError, answerError, badRequest, invalid, jsonAnswer, notFound, tooLarge } from './api-error.ts';
import { type AuthOptions, authenticator, type Recognised } from './auth.ts';
import {
  type AnyRoute,
  type ApiAnswer,
  type ApiRequest,
  type Call,
  type Caller,
  type RequestMemory,
  WrittenOut,
} from './route.ts';

interface ApiOptions {
  routes: readonly AnyRoute[];
  services: Services;
  auth: AuthOptions;
  /** Aborted once no new request is to be taken. */
  closing: AbortSignal;
  /** Called with what is answered 500. */
  onFault: (error: unknown) => void;
}

/** Answers requests: every answer in the envelope, every route under /v1 behind a key. Never rejects. */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

/** The whole interface as one function, the same for every way a request can come. */
export function createApi({ routes, services, auth, closing, onFault }: ApiOptions): Api {
  const find = router(routes);
  const { recognise, admit } = authenticator(auth);

  const answer = async (request: ApiRequest, recognised: Recognised): Promise<ApiAnswer> => {
    if (closing.aborted) throw new ApiError('SERVICE_UNAVAILABLE_ERROR', 'the service is stopping');
    const [path, search] = splitOnce(request.target, '?');
    const match = find(request.method, path);
    // The key of a request to a route that does not exist is looked at where there is one, and not asked for.
    if (!match || isKeyed(match.route)) await recognise(request.headers, recognised);
    if (recognised.caller) await admit(recognised.caller);
    if (!match) throw notFound('there is no such route');
    const { route } = match;
    const data = await route.handle(services, await readCall(request, match, search, recognised.caller));
    return route.data ? success(data) : (data as ApiAnswer);
  };

  return async request => {
    const recognised: Recognised = { headers: {} };
    const given = await answer(request, recognised).catch((error: unknown) => answerError(error, onFault));
    return {
      ...given,
      headers: { ...given.headers, ...recognised.headers },
      user: recognised.caller?.userName,
    };
  };
}

function success(data: unknown): ApiAnswer {
  const json = data instanceof WrittenOut ? data.json : JSON.stringify(data);
  return jsonAnswer(200, `{"status":"SUCCESS","data":${json}}`);
}

function isKeyed({ path }: AnyRoute): boolean {
  return path.startsWith(`${PATH_PREFIX}/`);
}

async function readCall(
  request: ApiRequest,
  { route, params }: Match,
  search: string,
  caller: Caller | undefined,
): Promise<Call<unknown, unknown, unknown>> {
  if (!caller && isKeyed(route)) {
    throw new ApiError('UNAUTHORIZED_ERROR', 'the API key is missing or not valid');
  }
  const memory = (caller && request.memoryFor?.(caller.userId)) ?? UNCOUNTED;
  return {
    params: route.params ? checked(route.params, params) : params,
    query: route.query ? readQuery(route.query, search) : {},
    body: route.body && checked(route.body, parseJson(await request.readBody(memory))),
    // Only routes under /v1 look at it, and those have one.
    caller: caller as Caller,
    headers: request.headers,
    origin: request.origin,
    memory,
  };
}

const UNCOUNTED: RequestMemory = { take: () => {}, free: () => {} };

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** The query as the schema wants it: defaults filled in, integers read. Throws VALIDATION_ERROR. */
function readQuery(schema: Schema, search: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined) query[name] = field.default;
  }
  const sent = new URLSearchParams(search);
  for (const name of new Set(sent.keys())) {
    const values = sent.getAll(name);
    const field = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    if (field) query[name] = values.length === 1 ? valueOf(field, values[0] ?? '') : values;
  }
  return checked(schema, query);
}

/** Throws VALIDATION_ERROR naming the first fault. */
function checked<T>(schema: Schema, value: T): T {
  const fault = faultOf(schema, value);
  if (fault !== undefined) throw invalid(fault);
  return value;
}

/** A body is JSON whatever its content type says. Throws BAD_REQUEST_ERROR for any other. */
function parseJson(body: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return parseBoundedJson(text, { values: MAX_BODY_VALUES });
  } catch (error) {
    if (error instanceof JsonPastBound) throw tooLarge(error.message);
    throw badRequest('the body is not JSON');
  }
}

/** An integer written in any other way stays a text, to be refused. */
function valueOf(field: Schema, text: string): unknown {
  return field.type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The route of a request, and what its path says. */
interface Match {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds routes; HEAD is answered as GET, without the body. Throws BAD_REQUEST_ERROR for a path that is not a URL's. */
function router(routes: readonly AnyRoute[]): (method: string, path: string) => Match | undefined {
  const fixed = new Map<string, AnyRoute>();
  const patterns: { route: AnyRoute; steps: readonly string[] }[] = [];
  for (const route of routes) {
    if (route.path.includes(':')) patterns.push({ route, steps: route.path.split('/') });
    else fixed.set(`${route.method} ${route.path}`, route);
  }
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = fixed.get(`${wanted} ${path}`);
    if (route) return { route, params: {} };
    const given = path.split('/').map(decoded);
    const found = patterns.find(({ route, steps }) => route.method === wanted && fits(steps, given));
    return found && { route: found.route, params: paramsOf(found.steps, given) };
  };
}

function fits(steps: readonly string[], given: readonly string[]): boolean {
  if (steps.length !== given.length) return false;
  return steps.every((step, index) => (step.startsWith(':') ? given[index] !== '' : step === given[index]));
}

function paramsOf(steps: readonly string[], given: readonly string[]): Record<string, string> {
  const entries = steps.flatMap((step, index) =>
    step.startsWith(':') ? [[step.slice(1), given[index] ?? ''] as const] : [],
  );
  return Object.fromEntries(entries);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    throw badRequest('the path is not a valid URL');
  }
}
