import { errorEnvelope } from './api-error.ts';
import type { App } from './app-type.ts';

/** Refuses what reaches the service on an open connection after it was told to stop, and keeps none of them open. */
export function refuseWhileClosing(app: App, closing: AbortSignal): void {
  app.addHook('onRequest', async (_request, reply) => {
    if (!closing.aborted) return;
    await reply
      .code(503)
      .serializer(JSON.stringify)
      .type('application/json; charset=utf-8')
      .send(errorEnvelope('SERVER_ERROR', 'the service is stopping'));
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing.aborted) reply.header('connection', 'close');
    done(null, payload);
  });
}
