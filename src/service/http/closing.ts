import type { App } from './app-type.ts';
import { errorEnvelope } from './api-error.ts';

/** What reaches the service on an open connection after it was told to stop. */
export function refuseWhileClosing(app: App, closing: AbortSignal): void {
  app.addHook('onRequest', async (_request, reply) => {
    if (!closing.aborted) return;
    await reply
      .code(503)
      .header('connection', 'close')
      .serializer(JSON.stringify)
      .type('application/json; charset=utf-8')
      .send(errorEnvelope('SERVER_ERROR', 'the service is stopping'));
  });
}
