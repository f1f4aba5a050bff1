import Fastify from 'fastify';
import { MAX_BODY_BYTES, PATH_PREFIX } from '../wire/index.ts';
import { errorAnswerer } from './http/answer-errors.ts';
import { notFound } from './http/api-error.ts';
import type { App } from './http/app-type.ts';
import { type AuthOptions, authenticator, optionalAuthenticator } from './http/auth.ts';
import { refuseWhileClosing } from './http/closing.ts';
import { acceptJson } from './http/json-body.ts';
import { answerMalformed, envelopeRefusals } from './http/malformed.ts';
import { describeInterface } from './openapi.ts';
import { accountRoutes } from './routes/account.ts';
import { mediaRoutes } from './routes/media.ts';
import { promptRoutes } from './routes/prompts.ts';
import { resourceRoutes } from './routes/resources.ts';
import { runRoutes } from './routes/runs.ts';
import type { Services } from './services.ts';

export interface AppOptions {
  services: Services;
  auth: AuthOptions;
  /** Aborted once no new request is to be taken. */
  closing: AbortSignal;
  /** Told of what is answered 500. */
  onFault: (error: unknown) => void;
}

const AJV_OPTIONS = {
  // The defaults would turn 5 into "5" and leave out what a schema does not name.
  coerceTypes: false,
  removeAdditional: false,
  discriminator: true,
  // The schemas are this program's own; checking them costs as much as starting.
  validateSchema: false,
} as const;

/** How long a request may take to arrive, in milliseconds; how long its answer takes is another matter. */
const REQUEST_TIMEOUT_MS = 300_000;

/** The service as a Fastify application: every answer in the envelope, every route under /v1 behind a key. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { services, auth, closing, onFault } = options;
  const answerError = errorAnswerer(onFault);
  const app: App = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: 16_384 },
    ajv: { customOptions: AJV_OPTIONS },
    clientErrorHandler: answerMalformed,
    frameworkErrors: answerError,
  });
  envelopeRefusals(app.server);
  acceptJson(app);
  refuseWhileClosing(app, closing);
  app.decorateRequest('caller', null);
  app.setErrorHandler(answerError);
  app.addHook('onRequest', optionalAuthenticator(auth));
  app.setNotFoundHandler(() => {
    throw notFound('there is no such route');
  });
  describeInterface(app);
  mediaRoutes(app, services);
  await app.register(
    async api => {
      api.addHook('onRequest', authenticator(auth));
      for (const routes of [runRoutes, promptRoutes, resourceRoutes, accountRoutes]) routes(api, services);
    },
    { prefix: PATH_PREFIX },
  );
  return app;
}
