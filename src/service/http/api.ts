import { SUCCESS_STATUS } from '../../wire/index.ts';
import { notFound } from '../core/refusal.ts';
import { ApiError, createErrorAnswer, createJsonAnswer } from './api-error.ts';
import { type Authentication, type AuthOptions, admit, authenticate } from './auth.ts';
import type { ParseBody } from './parse-body.ts';
import { readHandlerInput } from './read-handler-input.ts';
import { type ApiAnswer, type ApiRequest, type Route, requiresKey } from './route.ts';
import { createRouter } from './router.ts';

interface ApiOptions<S> {
  routes: readonly Route<S>[];
  services: S;
  auth: AuthOptions;
  /** Aborted once the service accepts no new requests. */
  closing: AbortSignal;
  readonly parseBody: ParseBody;
  /** Called with each fault that is answered 500. */
  onFault: (error: unknown) => void;
}

/**
 * Answers requests, always in the envelope, and requires a key for every route under /v1. Never
 * rejects.
 */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

/** Returns the whole interface as one function, for requests over HTTP and in process. */
export function createApi<S>(options: ApiOptions<S>): Api {
  const findRoute = createRouter(options.routes);
  return request => new ApiExchange(request, findRoute, options).answer();
}

/** One request, with the facts that its answer shows even if it is refused. */
class ApiExchange<S> {
  readonly #request: ApiRequest;
  readonly #findRoute: ReturnType<typeof createRouter<S>>;
  readonly #options: ApiOptions<S>;
  #authentication: Authentication = { headers: {} };
  /** The declared path of its route. */
  #path: string | undefined;

  constructor(
    request: ApiRequest,
    findRoute: ReturnType<typeof createRouter<S>>,
    options: ApiOptions<S>,
  ) {
    this.#request = request;
    this.#findRoute = findRoute;
    this.#options = options;
  }

  /** Never rejects. */
  async answer(): Promise<ApiAnswer> {
    const { onFault } = this.#options;
    const { headers, ...rest } = await this.#handle().catch((error: unknown) =>
      createErrorAnswer(error, onFault),
    );
    return {
      ...rest,
      headers: { ...headers, ...this.#authentication.headers },
      user: this.#authentication.caller?.userName,
      route: this.#path,
    };
  }

  async #handle(): Promise<ApiAnswer> {
    const { services, closing, parseBody } = this.#options;
    if (closing.aborted) throw new ApiError('SERVICE_UNAVAILABLE_ERROR', 'the service is stopping');

    const [path = '', ...search] = this.#request.target.split('?');
    const match = this.#findRoute(this.#request.method, path);
    this.#path = match?.route.path;

    // A request to a route that does not exist needs no key, but a key that it has is checked.
    if (!match || requiresKey(match.route)) {
      await this.#admitCaller(match?.route.allowsCachedCaller);
    }
    if (!match) throw notFound('the route does not exist');

    const { caller } = this.#authentication;
    const input = await readHandlerInput(this.#request, match, search.join('?'), {
      caller,
      parseBody,
    });
    const data = await match.route.handle(services, input);
    return match.route.data ? createSuccessAnswer(data) : (data as ApiAnswer);
  }

  async #admitCaller(allowsCachedCaller: boolean | undefined): Promise<void> {
    const { auth } = this.#options;
    this.#authentication = await authenticate(this.#request.headers, auth, { allowsCachedCaller });
    const { caller } = this.#authentication;
    if (caller) await admit(caller, auth);
  }
}

function createSuccessAnswer(data: unknown): ApiAnswer {
  return createJsonAnswer(200, JSON.stringify({ status: SUCCESS_STATUS, data }));
}
