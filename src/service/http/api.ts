import { PATH_PREFIX } from '../../wire/index.ts';
import type { Services } from '../services.ts';
import { ApiError, answerError, jsonAnswer, notFound } from './api-error.ts';
import { type AuthOptions, authenticator, type Recognised } from './auth.ts';
import { checked, parseJson, readQuery } from './read-request.ts';
import {
  type AnyRoute,
  type ApiAnswer,
  type ApiRequest,
  type Call,
  type Caller,
  WrittenOut,
} from './route.ts';
import { type Match, router } from './router.ts';

export interface ApiOptions {
  routes: readonly AnyRoute[];
  services: Services;
  auth: AuthOptions;
  /** Aborted once no new request is to be taken. */
  closing: AbortSignal;
  /** Told of what is answered 500. */
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
  return {
    params: route.params ? checked(route.params, params) : params,
    query: route.query ? readQuery(route.query, search) : {},
    body: route.body && checked(route.body, parseJson(await request.readBody())),
    // Only routes under /v1 look at it, and those have one.
    caller: caller as Caller,
    headers: request.headers,
    origin: request.origin,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
