import { SUCCESS_STATUS } from '../../wire/index.ts';
import { notFound } from '../core/refusal.ts';
import { ApiError, answerError, jsonAnswer } from './api-error.ts';
import { type AuthOptions, admit, findSender, type Sender } from './auth.ts';
import type { ParseBody } from './parse-body.ts';
import { readHandlerInput } from './read-handler-input.ts';
import { type ApiAnswer, type ApiRequest, isKeyed, type Route } from './route.ts';
import { router } from './router.ts';

interface ApiOptions<S> {
  routes: readonly Route<S>[];
  services: S;
  auth: AuthOptions;
  /** Aborted once the service accepts no new requests. */
  closing: AbortSignal;
  readonly parse: ParseBody;
  /** Called with each fault that is answered 500. */
  onFault: (error: unknown) => void;
}

/** Answers requests, always in the envelope, and requires a key for every route under /v1. Never rejects. */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

/** Returns the whole interface as one function, for requests over HTTP and in process. */
export function createApi<S>({ routes, services, auth, closing, parse, onFault }: ApiOptions<S>): Api {
  const find = router(routes);
  return async request => {
    let sender: Sender = { headers: {} };
    let path: string | undefined;
    const answer = async (): Promise<ApiAnswer> => {
      if (closing.aborted) throw new ApiError('SERVICE_UNAVAILABLE_ERROR', 'the service is stopping');
      const [sent = '', ...search] = request.target.split('?');
      const match = find(request.method, sent);
      path = match?.route.path;
      // A request to a route that does not exist needs no key, but a key that it has is checked.
      if (!match || isKeyed(match.route)) {
        sender = await findSender(request.headers, auth, {
          mayBeRemembered: match?.route.checksKey,
        });
      }
      if (sender.caller) await admit(sender.caller, auth);
      if (!match) throw notFound('the route does not exist');
      const { route } = match;
      const data = await route.handle(
        services,
        await readHandlerInput(request, match, search.join('?'), { caller: sender.caller, parse }),
      );
      return route.data ? success(data) : (data as ApiAnswer);
    };
    const { headers, ...rest } = await answer().catch((error: unknown) => answerError(error, onFault));
    return {
      ...rest,
      headers: { ...headers, ...sender.headers },
      user: sender.caller?.userName,
      route: path,
    };
  };
}

function success(data: unknown): ApiAnswer {
  return jsonAnswer(200, JSON.stringify({ status: SUCCESS_STATUS, data }));
}
